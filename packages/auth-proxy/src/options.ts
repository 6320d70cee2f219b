/** The options of the authorization proxy, and their defaults. */

import type { Clock, Logger } from '@mortise/jsonrpc-core';
import { checkOptions, guardLogger, type OptionTable, silentLogger, systemClock } from '@mortise/jsonrpc-core/transport';
import { isLoopbackHost } from '@mortise/protocol/edge';
import type { AuthorizationServer } from 'oauth4webapi';
import { type AuthorizationStore, MemoryAuthorizationStore } from './authorization-store.ts';
import { Sealer } from './secrets.ts';

/** The provider at which users sign in, such as GitHub. The proxy is registered there as one client. */
export interface UpstreamOptions {
  /** The provider's issuer identifier, such as `https://login.example.com`. */
  readonly issuer: string;
  /** The provider's name on the consent page, such as `GitHub`. */
  readonly name: string;
  /** The proxy's client id at the provider. */
  readonly clientId: string;
  /** The proxy's client secret at the provider. @default none: the proxy is a public client */
  readonly clientSecret?: string | undefined;
  /** The scopes to request at the provider on every sign-in. The consent page shows them. */
  readonly scopes: readonly string[];
  /**
   * The provider's metadata, with `authorization_endpoint` and `token_endpoint`, if the provider publishes none.
   *
   * @default the published metadata of `issuer`
   * @see RFC 8414 section 2
   */
  readonly metadata?: Partial<AuthorizationServer> | undefined;
  /** More parameters for the authorization request to the provider, such as `{ prompt: 'consent' }`. @default none */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

/** The result of one sign-in at the provider. */
export interface UpstreamSignIn {
  /** The user's access token at the provider. */
  readonly accessToken: string;
  /** The claims of the ID token, if the provider sent one. */
  readonly idTokenClaims: Readonly<Record<string, unknown>> | undefined;
}

/** A client that the options name, so that it needs no registration. */
export interface KnownClient {
  /** The client's id. */
  readonly clientId: string;
  /** The client's name on the consent page. */
  readonly name: string;
  /** The redirect URIs that the client may use. They must match exactly. */
  readonly redirectUris: readonly string[];
  /** The client's secret; absent for a public client. */
  readonly clientSecret?: string;
}

/** The options of `createAuthorizationProxy`. */
export interface AuthorizationProxyOptions {
  /** The issuer identifier of the proxy: `https://mcp.example.com`. The endpoints' URLs begin with it. */
  readonly issuer: string;
  /** The MCP server that tokens are issued for, as in `resource` of `protect`. */
  readonly resource: string;
  /** The name of this server on the consent page. */
  readonly name: string;
  /** The provider at which users sign in, and this proxy as its client. */
  readonly upstream: UpstreamOptions;
  /**
   * Gives the id of the user who signed in: a string that is the same for all sign-ins of a user and unique to that user.
   *
   * @default the subject of the ID token, which needs the scope `openid` at the provider
   */
  readonly identify?: ((signIn: UpstreamSignIn) => Promise<string>) | undefined;
  /** The encryption secret: 32 or more random characters. On another machine or after a restart, only the same one keeps grants valid. */
  readonly secret: string;
  /** Stores registrations, grants, codes and tokens. @default in memory */
  readonly store?: AuthorizationStore | undefined;
  /** The scopes that clients may request. A request without scopes gets all of them. @default none */
  readonly scopes?: readonly string[] | undefined;
  /** Clients that the proxy knows without registration. @default none */
  readonly clients?: readonly KnownClient[] | undefined;
  /** Whether other clients are accepted, by dynamic registration or client metadata document. @default true */
  readonly registration?: boolean | undefined;
  /** Additional URL schemes for redirect URIs of installed programs, such as `['cursor']`. @default only https, and http on this machine */
  readonly privateSchemes?: readonly string[] | undefined;
  /**
   * How long an unused grant lasts, and how long a browser remembers a consent to the same client, redirect URI and scopes, in
   * milliseconds. At most ten years. For a client on the user's machine, consent is asked every time, because the server cannot
   * distinguish such clients.
   *
   * @default 30 days
   */
  readonly grantMs?: number | undefined;
  /** Makes the requests to the provider and fetches client metadata documents. @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Decides when codes, tokens, grants and consents expire. @default systemClock */
  readonly clock?: Clock | undefined;
  /** Gets log messages about failures, and about grants that were ended because of them. @default silentLogger */
  readonly logger?: Logger | undefined;
}

/** The options of the proxy with defaults applied, and values derived from them. */
export type ProxySettings = {
  readonly [Name in keyof Omit<AuthorizationProxyOptions, 'identify'>]-?: NonNullable<AuthorizationProxyOptions[Name]>;
} & {
  readonly identify: AuthorizationProxyOptions['identify'];
  readonly sealer: Sealer;
  /** The path of `issuer`, with which the endpoints' paths begin: empty, or such as `/auth`. */
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
/** The maximum of `grantMs`: a longer time, such as `Infinity`, cannot be written in JSON and cookies. */
const LONGEST_MS = 3650 * DAY_MS;

/** Checks the options and applies defaults. @throws {TypeError} An option is invalid. */
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
  if (/[?#]/.test(issuer)) throw new TypeError(`createAuthorizationProxy: "issuer" must have no query or fragment, got "${issuer}"`);
  if (secret.length < MIN_SECRET_LENGTH)
    throw new TypeError(`createAuthorizationProxy: "secret" must have at least ${MIN_SECRET_LENGTH} random characters`);
  if (identify === undefined && !upstream.scopes.includes('openid'))
    throw new TypeError('createAuthorizationProxy: to identify users, give "identify" or add the scope "openid" to "upstream.scopes"');
}
