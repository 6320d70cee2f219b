/** What a program decides about its authorization proxy, and the defaults. */

import type { Clock, Logger } from '@mortise/jsonrpc-core';
import { checkOptions, guardLogger, type OptionTable, silentLogger, systemClock } from '@mortise/jsonrpc-core/transport';
import { isLoopbackHost } from '@mortise/protocol/edge';
import type { AuthorizationServer } from 'oauth4webapi';
import { type AuthorizationStore, MemoryAuthorizationStore } from './authorization-store.ts';
import { Sealer } from './secrets.ts';

/** The provider that signs people in: it knows this server as one client, and registers no others. */
export interface UpstreamOptions {
  readonly issuer: string;
  /** What people know it as, on the consent page: `GitHub`. */
  readonly name: string;
  readonly clientId: string;
  /** The proxy's secret at the provider. @default none: a public client */
  readonly clientSecret?: string | undefined;
  /** What is asked for on every sign-in, shown on the consent page. */
  readonly scopes: readonly string[];
  /**
   * The provider's metadata, for one that publishes none: `authorization_endpoint`, `token_endpoint`, and what else there is.
   *
   * @default what the issuer publishes
   * @see RFC 8414 section 2
   */
  readonly metadata?: Partial<AuthorizationServer> | undefined;
  /** More parameters of the authorization request: `{ prompt: 'consent' }`. @default none */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

/** What the provider gave for one sign-in. */
export interface UpstreamSignIn {
  readonly accessToken: string;
  /** The claims of the ID token, if there was one. */
  readonly idTokenClaims: Readonly<Record<string, unknown>> | undefined;
}

/** A client that the program knows from the start. */
export interface KnownClient {
  readonly clientId: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** Absent for a public client. */
  readonly clientSecret?: string;
}

/** The options of `createAuthorizationProxy`. */
export interface AuthorizationProxyOptions {
  /** This authorization server's own issuer: `https://mcp.example.com`. Its endpoints lie under it. */
  readonly issuer: string;
  /** The MCP server that tokens are issued for: the `resource` of `protect`. */
  readonly resource: string;
  /** What people know this server as, on the consent page. */
  readonly name: string;
  readonly upstream: UpstreamOptions;
  /**
   * Finds out who signed in: a text that is the same for each sign-in of one person, and never another's.
   *
   * @default the subject of the ID token, which needs the scope `openid` upstream
   */
  readonly identify?: ((signIn: UpstreamSignIn) => Promise<string>) | undefined;
  /** At least 32 random characters, the same on every machine and after a restart: consents and grants depend on it. */
  readonly secret: string;
  /** Keeps registrations, grants, codes and tokens. @default this process's memory */
  readonly store?: AuthorizationStore | undefined;
  /** The scopes that clients may ask for; a request without any gets all. @default none */
  readonly scopes?: readonly string[] | undefined;
  /** Clients that are known beforehand, without registration. @default none */
  readonly clients?: readonly KnownClient[] | undefined;
  /** Whether other clients may introduce themselves: by registration, or by a client metadata document. @default true */
  readonly registration?: boolean | undefined;
  /** URL schemes of installed programs that redirects may lead to, beside https and http on this machine: `['cursor']`. @default none */
  readonly privateSchemes?: readonly string[] | undefined;
  /**
   * How long a grant lasts without being used, and a browser is not asked again for the same client, redirect and scopes, in milliseconds;
   * ten years at most. For programs on the user's machine people are asked every time, since any of them can pose as another.
   *
   * @default 30 days
   */
  readonly grantMs?: number | undefined;
  /** Makes the requests to the provider and for client metadata documents. @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Says when codes, tokens, grants and consents end. @default systemClock */
  readonly clock?: Clock | undefined;
  /** Reads what failed, and which grants ended for it. @default silentLogger */
  readonly logger?: Logger | undefined;
}

/** The options with their defaults, and what follows from them. */
export type ProxySettings = {
  readonly [Name in keyof Omit<AuthorizationProxyOptions, 'identify'>]-?: NonNullable<AuthorizationProxyOptions[Name]>;
} & {
  readonly identify: AuthorizationProxyOptions['identify'];
  readonly sealer: Sealer;
  /** The path under which the endpoints lie: empty or `/like-this`. */
  readonly basePath: string;
};

const OPTIONS: OptionTable<AuthorizationProxyOptions> = {
  issuer: 'string',
  resource: 'string',
  name: 'string',
  upstream: {
    issuer: 'string',
    name: 'string',
    clientId: 'string',
    clientSecret: 'string',
    scopes: 'array',
    metadata: 'object',
    parameters: 'object',
  },
  identify: 'function',
  secret: 'string',
  store: 'object',
  scopes: 'array',
  clients: 'array',
  registration: 'boolean',
  privateSchemes: 'array',
  grantMs: 0,
  fetch: 'function',
  clock: 'object',
  logger: 'object',
};

const MIN_SECRET_LENGTH = 32;
const DAY_MS = 86_400_000;
/** What is to have no end lasts this long: neither JSON nor a cookie can say `Infinity`. */
const LONGEST_MS = 3650 * DAY_MS;

/** @throws {TypeError} An option is wrong. */
export function toProxySettings(options: AuthorizationProxyOptions): ProxySettings {
  checkProxyOptions(options);
  const { clock = systemClock } = options;
  return {
    ...options,
    identify: options.identify,
    store: options.store ?? new MemoryAuthorizationStore(clock),
    scopes: options.scopes ?? [],
    clients: options.clients ?? [],
    registration: options.registration ?? true,
    privateSchemes: options.privateSchemes ?? [],
    grantMs: Math.min(options.grantMs ?? 30 * DAY_MS, LONGEST_MS),
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    clock,
    logger: guardLogger(options.logger ?? silentLogger),
    sealer: new Sealer(options.secret, clock),
    basePath: new URL(options.issuer).pathname.replace(/\/$/, ''),
  };
}

function checkProxyOptions(options: AuthorizationProxyOptions): void {
  checkOptions('createAuthorizationProxy', options, OPTIONS);
  const { issuer, resource, upstream, identify, secret } = options;
  for (const [name, value] of Object.entries({ issuer, resource, 'upstream.issuer': upstream.issuer })) {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname))) continue;
    throw new TypeError(`createAuthorizationProxy: "${name}" must be an https URL (http only on this machine), got "${value}"`);
  }
  if (/[?#]/.test(issuer)) throw new TypeError(`createAuthorizationProxy: "issuer" has a query or a fragment: "${issuer}"`);
  if (secret.length < MIN_SECRET_LENGTH)
    throw new TypeError(`createAuthorizationProxy: "secret" must have at least ${MIN_SECRET_LENGTH} random characters`);
  if (identify === undefined && !upstream.scopes.includes('openid'))
    throw new TypeError('createAuthorizationProxy: give "identify", or ask for the scope "openid" upstream, to know who signs in');
}
