/** Authorization: verified tokens and their callers on the server; credentials of requests on the client. */

import type { JsonObject } from '@mortise/jsonrpc-core';

/**
 * Identifies the caller of a request: an opaque string made from issuer, subject and client of a verified token, `local` on stdio, or
 * `anonymous` for an unverified caller. Only compare it for equality.
 */
export type Principal = string;

/** The caller of a request, as a `TokenVerifier` verified it. Every member comes from a verified source. */
export interface AuthInfo {
  readonly principal: Principal;
  readonly issuer?: string;
  readonly subject?: string;
  readonly clientId?: string;
  readonly scopes: readonly string[];
  /** When the token expires, in milliseconds since the epoch. */
  readonly expiresAtMs?: number;
  /** The audience that the token was issued for. */
  readonly resource?: string;
  /** The verified claims, for handlers that need more. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** The token itself, for token exchange. Never log it, store it or forward it unchanged. */
  readonly token?: string;
}

/** A token, and the HTTP request that carried it (a DPoP token is bound to its request). */
export interface TokenRequest {
  /** `Bearer` or `DPoP`; undefined without an `Authorization` header. */
  readonly scheme: string | undefined;
  readonly token: string | undefined;
  readonly method: string;
  readonly url: string;
  header(name: string): string | undefined;
}

/**
 * Verifies the access token of a request and returns its caller.
 *
 * N1  Resolves only for a token that is valid now and was issued for this resource.
 * N2  Rejects with `AuthChallengeError` (from `@mortise/protocol`) if the caller must send another token. Any other error is a fault
 *     of the verifier: the caller gets status 500 without the cause.
 */
export interface TokenVerifier {
  verify(request: TokenRequest, options: { readonly signal: AbortSignal }): Promise<AuthInfo>;
}

/** An optional interface of verifiers: creates the challenge for a verified caller whose token lacks scopes. */
export interface ScopeChallenger {
  /**
   * @param auth The result of `verify` for the request.
   * @param scopes The scopes that the operation needs.
   * @returns The `WWW-Authenticate` value for the 403 response.
   */
  challengeScopes(auth: AuthInfo, scopes: readonly string[], request: { readonly scheme: string }): string;
}

/** The response of a server that refused a request with 401 or 403. */
export interface Challenge {
  readonly status: number;
  readonly url: string;
  header(name: string): string | undefined;
  /** The number of the refused attempt within one call, from 1. */
  readonly attempt: number;
  /** The headers that `headers` returned for the refused request, by lower-case name. Another call may have got a newer token since. */
  readonly given?: Readonly<Record<string, string>>;
}

/**
 * Adds authorization to a client's requests.
 *
 * A1  `headers` is called before every request. It is fast if a token is available.
 * A2  `onChallenge` is called after a 401 or 403, at most three times per call. It returns `retry` only if the next attempt differs.
 * A3  Concurrent calls share one sign-in or refresh.
 */
export interface Authorizer {
  headers(
    request: { readonly method: string; readonly url: string },
    options?: { readonly signal?: AbortSignal },
  ): Promise<Readonly<Record<string, string>>>;
  onChallenge(challenge: Challenge, options?: { readonly signal?: AbortSignal }): Promise<'retry' | 'fail'>;
}

/**
 * Stores a client's credentials and tokens by issuer. A value of one issuer is never returned for another.
 *
 * C1  `get` returns what the last finished `put` wrote for that issuer and key.
 */
export interface CredentialStore {
  get(issuer: string, key: string): Promise<JsonObject | undefined>;
  put(issuer: string, key: string, value: JsonObject): Promise<void>;
  delete(issuer: string, key?: string): Promise<void>;
}

/**
 * An optional interface of credential stores.
 *
 * C2  `withLock` runs one `fn` at a time across all processes that share the store. It releases the lock when `fn` settles.
 */
export interface LockingStore {
  withLock<T>(name: string, fn: () => Promise<T>, options?: { readonly signal?: AbortSignal }): Promise<T>;
}
