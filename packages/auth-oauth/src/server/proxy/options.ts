/** What a program decides about its authorization proxy, and what holds where it does not. */

import type { Clock, Logger } from '@mortise/jsonrpc-core';
import { checkOptionRules, type OptionRules, guardLogger, silentLogger, systemClock } from '@mortise/jsonrpc-core/transport';
import { isLoopbackHost, type UrlPolicy } from '@mortise/protocol/edge';
import { AuthOptionError } from '../../errors.ts';
import { type AuthorizationStore, MemoryAuthorizationStore } from './authorization-store.ts';

/** The provider that signs people in: it knows this server as one client, and registers no others. */
export interface UpstreamOptions {
  readonly issuer: string;
  /** What people know it as, on the consent page: `GitHub`. */
  readonly name: string;
  readonly clientId: string;
  /** The proxy's secret at the provider. @default none: a public client */
  readonly clientSecret?: string | undefined;
  /** How the secret is sent. @default 'client_secret_basic' with a secret, else none */
  readonly clientAuthentication?: 'client_secret_basic' | 'client_secret_post' | undefined;
  /** What is asked for on every sign-in, shown on the consent page. */
  readonly scopes: readonly string[];
  /** With `tokenEndpoint`, for a provider without metadata. @default what the metadata says */
  readonly authorizationEndpoint?: string | undefined;
  /** Where codes and refresh tokens are exchanged. @default what the metadata says */
  readonly tokenEndpoint?: string | undefined;
  /** Where tokens are revoked. @default what the metadata says */
  readonly revocationEndpoint?: string | undefined;
  /** More parameters of the authorization request: `{ prompt: 'consent' }`. @default none */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

/** What the provider gave. Lives as long as the call that is handed it. */
export interface UpstreamSignIn {
  readonly accessToken: string;
  /** The claims of the ID token, where there was one. */
  readonly idTokenClaims: Readonly<Record<string, unknown>> | undefined;
}

/** Who signed in. */
export interface SignedIn {
  /** The same for each sign-in of one person, and never another's. */
  readonly subject: string;
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
  /** Finds out who signed in. @default the subject of the ID token, which needs the scope `openid` upstream */
  readonly identify?: ((signIn: UpstreamSignIn) => Promise<SignedIn>) | undefined;
  /** At least 32 random characters, the same on every machine and after a restart. Consent, grants and provider tokens depend on it. */
  readonly secret: string;
  /** Where registrations, grants, codes and tokens are kept. @default this process's memory */
  readonly store?: AuthorizationStore | undefined;
  /** The scopes that clients may ask for; a request without any gets all. @default none */
  readonly scopes?: readonly string[] | undefined;
  /** Clients that are known beforehand, without registration. @default none */
  readonly clients?: readonly KnownClient[] | undefined;
  /** Whether anyone may register a client. @default true */
  readonly registration?: boolean | undefined;
  /** Whether a client may be known by the URL of a document about it. @default true */
  readonly clientIdMetadataDocuments?: boolean | undefined;
  /** Which addresses such documents may be at. @default public hosts over https */
  readonly documentPolicy?: UrlPolicy | undefined;
  /** URL schemes of installed programs that redirects may lead to, beside https and http on this machine: `['cursor']`. @default none */
  readonly privateSchemes?: readonly string[] | undefined;
  /**
   * How long a browser need not be asked again for the same client, redirect and scopes, in milliseconds; 0 asks every time. Programs on the
   * user's machine are always asked for, since any of them could pose as another. Ten years at most.
   *
   * @default 30 days
   */
  readonly rememberConsentMs?: number | undefined;
  /** How long the access tokens of the proxy last, in milliseconds; ten years at most. @default 15 minutes */
  readonly accessTokenMs?: number | undefined;
  /** How long a grant lasts without being used, in milliseconds; ten years at most. @default 30 days */
  readonly refreshTokenMs?: number | undefined;
  /** How long the provider, or the document of a client, may take to answer, in milliseconds. @default 10_000 */
  readonly timeoutMs?: number | undefined;
  /** What the provider is asked by, and what client metadata documents are fetched by. @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Tells when codes, tokens, grants and consents end. @default systemClock */
  readonly clock?: Clock | undefined;
  /** Told what failed, and which grants were ended for it. @default silentLogger */
  readonly logger?: Logger | undefined;
}

/** The options with everything that has a default filled in. */
export interface ProxySettings extends AuthorizationProxyOptions {
  readonly store: AuthorizationStore;
  readonly scopes: readonly string[];
  readonly clients: readonly KnownClient[];
  readonly registration: boolean;
  readonly clientIdMetadataDocuments: boolean;
  readonly privateSchemes: readonly string[];
  readonly rememberConsentMs: number;
  readonly accessTokenMs: number;
  readonly refreshTokenMs: number;
  readonly timeoutMs: number;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The path under which the endpoints lie: empty or `/like-this`. */
  readonly basePath: string;
}

const RULES: OptionRules<AuthorizationProxyOptions> = {
  issuer: 'no number',
  resource: 'no number',
  name: 'no number',
  upstream: 'no number',
  identify: 'no number',
  secret: 'no number',
  store: 'no number',
  scopes: 'no number',
  clients: 'no number',
  registration: 'no number',
  clientIdMetadataDocuments: 'no number',
  documentPolicy: 'no number',
  privateSchemes: 'no number',
  rememberConsentMs: 0,
  accessTokenMs: 0,
  refreshTokenMs: 0,
  timeoutMs: 0,
  fetch: 'no number',
  clock: 'no number',
  logger: 'no number',
};

const UPSTREAM_RULES: OptionRules<UpstreamOptions> = {
  issuer: 'no number',
  name: 'no number',
  clientId: 'no number',
  clientSecret: 'no number',
  clientAuthentication: 'no number',
  scopes: 'no number',
  authorizationEndpoint: 'no number',
  tokenEndpoint: 'no number',
  revocationEndpoint: 'no number',
  parameters: 'no number',
};

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** What is to have no end lasts for so long: neither an answer in JSON nor a cookie has a word for `Infinity`. */
const LONGEST_MS = 3650 * DAY_MS;

/** @throws {AuthOptionError} `ERR_AUTH_OPTION`: an option that cannot hold. */
export function toProxySettings(options: AuthorizationProxyOptions): ProxySettings {
  checkOptions(options);
  const { clock = systemClock } = options;
  return {
    ...options,
    store: options.store ?? new MemoryAuthorizationStore({ clock }),
    scopes: options.scopes ?? [],
    clients: options.clients ?? [],
    registration: options.registration ?? true,
    clientIdMetadataDocuments: options.clientIdMetadataDocuments ?? true,
    privateSchemes: options.privateSchemes ?? [],
    rememberConsentMs: Math.min(options.rememberConsentMs ?? 30 * DAY_MS, LONGEST_MS),
    accessTokenMs: Math.min(options.accessTokenMs ?? 15 * MINUTE_MS, LONGEST_MS),
    refreshTokenMs: Math.min(options.refreshTokenMs ?? 30 * DAY_MS, LONGEST_MS),
    timeoutMs: options.timeoutMs ?? 10_000,
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    clock,
    logger: guardLogger(options.logger ?? silentLogger),
    basePath: new URL(options.issuer).pathname.replace(/\/$/, ''),
  };
}

function checkOptions(options: AuthorizationProxyOptions): void {
  checkOptionRules('createAuthorizationProxy', options, RULES, AuthOptionError);
  checkOptionRules('createAuthorizationProxy: upstream', options.upstream, UPSTREAM_RULES, AuthOptionError);
  const { issuer, resource, upstream, identify } = options;
  for (const [name, value] of Object.entries({ issuer, resource, 'upstream.issuer': upstream.issuer })) checkUrlOption(name, value);
  if (/[?#]/.test(issuer)) throw new AuthOptionError(`The option "issuer" may have no query and no fragment, got "${issuer}"`);
  if ((upstream.authorizationEndpoint === undefined) !== (upstream.tokenEndpoint === undefined))
    throw new AuthOptionError('The options "upstream.authorizationEndpoint" and "upstream.tokenEndpoint" go together');
  if (identify === undefined && !upstream.scopes.includes('openid'))
    throw new AuthOptionError('Nobody can tell who signs in: give the option "identify", or ask for the scope "openid" upstream');
}

function checkUrlOption(name: string, value: string): void {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname))) return;
  throw new AuthOptionError(`The option "${name}" must be an https URL (http only on this machine), got "${value}"`);
}
