/** Interfaces for authorization: a server verifies tokens and learns who calls; a client adds credentials to its requests. */

import type { JsonObject } from '@mortise/jsonrpc-core';

/**
 * Identifies the caller of a request: an opaque string made from issuer, subject and client of a verified token, `local` on stdio, or
 * `anonymous` for an unverified caller. Only compare it for equality.
 */
export type Principal = string;

/** Who sent a request, as a `TokenVerifier` found out from its access token. Every member comes from a verified source. */
export interface AuthInfo {
  readonly principal: Principal;
  readonly issuer?: string;
  readonly subject?: string;
  readonly clientId?: string;
  readonly scopes: readonly string[];
  /** When the access token expires, in milliseconds since the epoch. */
  readonly expiresAtMs?: number;
  /** The audience of the access token: the resource that it was issued for. */
  readonly resource?: string;
  /** The verified claims of the access token, for handlers that need more than the other members tell. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** The access token itself, to exchange it for another token (RFC 8693). Never log it, store it or forward it unchanged. */
  readonly token?: string;
}

/** What a `TokenVerifier` checks: an access token, and the HTTP request that carried it (a DPoP token is bound to its request). */
export interface TokenRequest {
  /** The authentication scheme, `Bearer` or `DPoP`; undefined if the request has no `Authorization` header. */
  readonly scheme: string | undefined;
  readonly token: string | undefined;
  readonly method: string;
  readonly url: string;
  header(name: string): string | undefined;
}

/**
 * Verifies the access token of a request and returns who the caller is.
 *
 * N1  Resolves only for a token that is valid now and was issued for this server.
 * N2  Rejects with `AuthChallengeError` (from `@mortise/protocol`) if the caller must send another token. Any other error counts as a
 *     failure of the verifier: the caller gets status 500, without the cause.
 */
export interface TokenVerifier {
  verify(request: TokenRequest, options: { readonly signal: AbortSignal }): Promise<AuthInfo>;
}

/** May also be implemented by a `TokenVerifier`: creates the `WWW-Authenticate` challenge for a valid token that lacks scopes. */
export interface ScopeChallenger {
  /**
   * @param auth What `TokenVerifier.verify` returned for the request.
   * @param scopes The scopes that the request needs.
   * @returns The `WWW-Authenticate` value for the 403 response.
   */
  challengeScopes(auth: AuthInfo, scopes: readonly string[], request: { readonly scheme: string }): string;
}

/** The 401 or 403 response to a client's HTTP request, as an `Authorizer` gets it. */
export interface Challenge {
  readonly status: number;
  readonly url: string;
  header(name: string): string | undefined;
  /** Which attempt of the call was refused: 1 for the first. */
  readonly attempt: number;
  /** The headers that `Authorizer.headers` returned for the refused request, by lower-case name. By now there may be a newer token. */
  readonly given?: Readonly<Record<string, string>>;
}

/**
 * Adds authorization headers to a client's HTTP requests, and decides what to do after a 401 or 403 response.
 *
 * A1  `headers` is called before every HTTP request, so it must be fast if a token is available.
 * A2  `onChallenge` is called after a 401 or 403, at most three times per call. It resolves to `retry` only if the next attempt will send
 *     other headers.
 * A3  Concurrent calls share one sign-in or token refresh.
 */
export interface Authorizer {
  headers(
    request: { readonly method: string; readonly url: string },
    options?: { readonly signal?: AbortSignal },
  ): Promise<Readonly<Record<string, string>>>;
  onChallenge(challenge: Challenge, options?: { readonly signal?: AbortSignal }): Promise<'retry' | 'fail'>;
}

/**
 * Stores a client's credentials and tokens, separately for each authorization server (issuer).
 *
 * C1  `get` returns what the last finished `put` wrote for that issuer and key, never a value of another issuer.
 */
export interface CredentialStore {
  get(issuer: string, key: string): Promise<JsonObject | undefined>;
  put(issuer: string, key: string, value: JsonObject): Promise<void>;
  delete(issuer: string, key?: string): Promise<void>;
}

/**
 * May also be implemented by a `CredentialStore`: a lock for several processes that share the store.
 *
 * C2  `withLock` runs one `fn` at a time across all processes that share the store. It releases the lock when the promise that `fn`
 *     returned resolves or rejects.
 */
export interface LockingStore {
  withLock<T>(name: string, fn: () => Promise<T>, options?: { readonly signal?: AbortSignal }): Promise<T>;
}
