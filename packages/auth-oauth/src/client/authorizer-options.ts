/** The options of every flow. */

import type { Clock } from '@mortise/jsonrpc-core';
import type { OptionTable } from '@mortise/jsonrpc-core/transport';
import type { Authorizer, CredentialStore } from '@mortise/protocol/contracts';
import { isLoopbackHost, type UrlPolicy } from '@mortise/protocol/edge';
import type { CryptoKeyPair } from 'oauth4webapi';
import type { FetchLike } from '../safe-fetch.ts';

/** Options that every flow has. */
export interface AuthorizerOptions {
  /** Keeps credentials and tokens. Belongs to one user: its tokens act as that user. @default in memory, until the process ends */
  readonly store?: CredentialStore | undefined;
  /** Scopes to ask for beside those that the server wants. @default none */
  readonly scopes?: readonly string[] | undefined;
  /** The resource identifier that the server's metadata must name. @default the server's URL, or what holds it where a well-known place says so */
  readonly resource?: string | undefined;
  /** Chooses among the authorization servers that a server names. @default the first with credentials of ours, else the first */
  readonly chooseIssuer?: ((issuers: readonly string[]) => string) | undefined;
  /**
   * Binds tokens to a key, so that a stolen one is of no use: `true` for a new key that cannot leave this process (tokens bound to it are
   * kept in memory alone), or a key pair that outlives it.
   *
   * @default false
   */
  readonly dpop?: boolean | CryptoKeyPair | undefined;
  /** What URLs of peers may lead to. @default https to public hosts and to the server's own; this machine if the server is on it */
  readonly urls?: UrlPolicy | undefined;
  /** How long one request may take with its body, in milliseconds. @default 10_000 */
  readonly timeoutMs?: number | undefined;
  /** Makes the requests to authorization servers. @default the platform's, which judges addresses by their spelling alone: on Node give `checkedFetch` */
  readonly fetch?: FetchLike | undefined;
  /** Treats a server without metadata as one of the first revision with authorization: its own authorization server. @default false */
  readonly assumesOwnServer?: boolean | undefined;
  /** Says when tokens end, and runs the timers of requests. @default the system's */
  readonly clock?: Clock | undefined;
}

/** What `findAuthorization` takes of them. */
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

/** An `Authorizer` that can be asked to sign in and out. */
export interface OAuthAuthorizer extends Authorizer {
  /**
   * Gets new tokens now, before a request needs them or after one failed for good.
   *
   * @param options.scopes Asked for beside those that were asked for before.
   */
  signIn(options?: { readonly scopes?: readonly string[]; readonly signal?: AbortSignal }): Promise<void>;
  /** Forgets the tokens, and revokes them if the authorization server offers that; rejects if that fails. */
  signOut(options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/** The URL of a server, as HTTP has it: a WebSocket's is that of its upgrade. @throws {TypeError} */
export function toServerUrl(server: string | URL): URL {
  const text = String(server).replace(/^ws(?=s?:)/i, 'http');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.username !== '') {
    throw new TypeError('The server must be an absolute http(s) or ws(s) URL without a user name');
  }
  url.hash = '';
  return url;
}

/** The program chose the server's own host; peers on this machine are only believed by a program that talks to this machine. */
export function toUrlPolicy(server: URL, given: UrlPolicy = {}): UrlPolicy {
  return {
    allowLoopback: isLoopbackHost(server.hostname),
    ...given,
    allowedHosts: [server.hostname, ...(given.allowedHosts ?? [])],
  };
}
