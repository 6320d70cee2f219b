/** The options that all flows share. */

import type { Clock } from '@mortise/jsonrpc-core';
import type { OptionTable } from '@mortise/jsonrpc-core/transport';
import type { Authorizer, CredentialStore } from '@mortise/protocol/contracts';
import { isLoopbackHost, type UrlPolicy } from '@mortise/protocol/edge';
import type { CryptoKeyPair } from 'oauth4webapi';
import type { FetchLike } from '../safe-fetch.ts';

/** The options that all flows share. */
export interface AuthorizerOptions {
  /** Stores credentials and tokens of one user. Do not share it between users. @default in memory */
  readonly store?: CredentialStore | undefined;
  /** Scopes to request in addition to those that the server requires. @default none */
  readonly scopes?: readonly string[] | undefined;
  /** The resource identifier that the server's metadata must have. @default the server's URL, or a parent of it from a well-known URL */
  readonly resource?: string | undefined;
  /** Chooses one of the authorization servers that the server names. @default the first with own credentials, else the first */
  readonly chooseIssuer?: ((issuers: readonly string[]) => string) | undefined;
  /**
   * Binds tokens to a key with DPoP, so that a stolen token cannot be used. `true` creates a key that cannot leave this process; its
   * tokens are kept in memory only. To keep tokens longer, give a key pair.
   *
   * @default false
   */
  readonly dpop?: boolean | CryptoKeyPair | undefined;
  /** Which URLs from peers are allowed. @default https to public hosts and to the server's host; this machine if the server is local */
  readonly urls?: UrlPolicy | undefined;
  /** The time limit of one request including its body, in milliseconds. @default 10_000 */
  readonly timeoutMs?: number | undefined;
  /** Makes the requests to authorization servers. `checkedFetch` of `/node` also checks resolved addresses. @default globalThis.fetch */
  readonly fetch?: FetchLike | undefined;
  /** Treats a server without metadata as its own authorization server, as the first revision with authorization did. @default false */
  readonly assumesOwnServer?: boolean | undefined;
  /** Decides when tokens expire, and runs the timers of requests. @default the system clock */
  readonly clock?: Clock | undefined;
}

/** The options that `findAuthorization` also has. */
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
   * Gets new tokens now: before the first request, or after an error such as `ERR_TOKEN_REJECTED`.
   *
   * @param options.scopes Scopes to request in addition to those requested before.
   */
  signIn(options?: { readonly scopes?: readonly string[]; readonly signal?: AbortSignal }): Promise<void>;
  /** Deletes the tokens, and revokes them if the authorization server supports revocation. Rejects if revocation fails. */
  signOut(options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/** Gives a server's URL as http(s), also for a WebSocket URL. @throws {TypeError} The URL is invalid. */
export function toServerUrl(server: string | URL): URL {
  const text = String(server).replace(/^ws(?=s?:)/i, 'http');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.username !== '') {
    throw new TypeError('The server must be an absolute http(s) or ws(s) URL without a user name');
  }
  url.hash = '';
  return url;
}

/** Completes a URL policy: the server's own host is allowed, and loopback hosts are allowed if the server is local. */
export function toUrlPolicy(server: URL, given: UrlPolicy = {}): UrlPolicy {
  return {
    allowLoopback: isLoopbackHost(server.hostname),
    ...given,
    allowedHosts: [server.hostname, ...(given.allowedHosts ?? [])],
  };
}
