/** The options that all authorizers share: `oauth`, `clientCredentials`, `workloadIdentity` and `enterpriseManaged`. */

import type { Clock } from '@mortise/jsonrpc-core';
import type { OptionTable } from '@mortise/jsonrpc-core/transport';
import type { Authorizer, CredentialStore } from '@mortise/protocol/contracts';
import { isLoopbackHost, type UrlPolicy } from '@mortise/protocol/edge';
import type { CryptoKeyPair } from 'oauth4webapi';
import type { FetchLike } from '../safe-fetch.ts';

/** The options that all authorizers share: `oauth`, `clientCredentials`, `workloadIdentity` and `enterpriseManaged`. */
export interface AuthorizerOptions {
  /** Stores the credentials and tokens of one user. Do not share a store between users. @default in memory */
  readonly store?: CredentialStore | undefined;
  /** Scopes to request in addition to those that the server requires. @default none */
  readonly scopes?: readonly string[] | undefined;
  /** The `resource` that the server's metadata must name. @default the server's URL, or a parent URL that has metadata of its own */
  readonly resource?: string | undefined;
  /** Chooses one of the authorization servers that the server names. @default the first that credentials are given for, else the first */
  readonly chooseIssuer?: ((issuers: readonly string[]) => string) | undefined;
  /**
   * Binds tokens to a key with DPoP, so that a stolen token cannot be used. `true` creates a key that cannot leave this process; its
   * tokens are kept in memory only. To keep tokens longer, give a key pair.
   *
   * @default false
   */
  readonly dpop?: boolean | CryptoKeyPair | undefined;
  /** Which URLs that servers name may be used. @default https of public hosts and the server's host; this machine if the server is local */
  readonly urls?: UrlPolicy | undefined;
  /** The time limit of one metadata or token request, including its body, in milliseconds. @default 10_000 */
  readonly timeoutMs?: number | undefined;
  /** Sends the metadata and token requests. `checkedFetch` of `/node` also checks resolved IP addresses. @default globalThis.fetch */
  readonly fetch?: FetchLike | undefined;
  /** Treats a server without resource metadata as its own authorization server, as revision 2025-03-26 does. @default false */
  readonly assumesOwnServer?: boolean | undefined;
  /** The clock for the expiry of tokens and the time limits of requests. @default the system clock */
  readonly clock?: Clock | undefined;
}

/** The names and types of the options that `findAuthorization` and all authorizers have, for `checkOptions`. */
export const DISCOVERY_OPTIONS = {
  resource: 'string',
  chooseIssuer: 'function',
  urls: { allowLoopback: 'boolean', allowPrivate: 'boolean', allowHttp: 'boolean', allowedHosts: 'array' },
  timeoutMs: 0,
  fetch: 'function',
  assumesOwnServer: 'boolean',
  clock: 'object',
} as const;

export const AUTHORIZER_OPTIONS: OptionTable<AuthorizerOptions> = {
  ...DISCOVERY_OPTIONS,
  store: 'object',
  scopes: 'array',
  dpop: ['boolean', 'object'],
};

/** An `Authorizer` with methods to sign in and out. */
export interface OAuthAuthorizer extends Authorizer {
  /**
   * Gets new tokens now. Call it before the first request, or after an error such as `ERR_TOKEN_REJECTED`.
   *
   * @param options.scopes Scopes to request in addition to those of the server's metadata, of the option `scopes`, and of the request for
   * the current tokens. Scopes that the user declined are not among these.
   */
  signIn(options?: { readonly scopes?: readonly string[]; readonly signal?: AbortSignal }): Promise<void>;
  /** Deletes the tokens, and revokes them if the authorization server supports revocation. Rejects if revocation fails. */
  signOut(options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/** Converts the URL of an MCP server to http(s): `ws:` becomes `http:`, `wss:` becomes `https:`. @throws {TypeError} The URL is invalid. */
export function toServerUrl(server: string | URL): URL {
  const text = String(server).replace(/^ws(?=s?:)/i, 'http');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.username + url.password !== '') {
    throw new TypeError('The server URL must be an absolute http(s) or ws(s) URL without a user name or password');
  }
  url.hash = '';
  return url;
}

/** Adds defaults to the option `urls`: the server's own host is allowed, and loopback hosts are allowed if the server is local. */
export function toUrlPolicy(server: URL, given: UrlPolicy = {}): UrlPolicy {
  return {
    allowLoopback: isLoopbackHost(server.hostname),
    ...given,
    allowedHosts: [server.hostname, ...(given.allowedHosts ?? [])],
  };
}
