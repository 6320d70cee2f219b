/** Who calls: on the server a verified token and whom it speaks for, on the client what a request carries to show it. */

import type { JsonObject } from '@mortise/jsonrpc-core';

/**
 * On whose behalf a request is made: issuer, subject and client of a verified token joined into one opaque string,
 * `local` on stdio, `anonymous` for an unverified caller. Compared for equality and nothing else.
 */
export type Principal = string;

/** What a `TokenVerifier` found out about the caller. Every field comes from a verified source. */
export interface AuthInfo {
  readonly principal: Principal;
  readonly issuer?: string;
  readonly subject?: string;
  readonly clientId?: string;
  readonly scopes: readonly string[];
  /** When the token ends, in milliseconds since the epoch. */
  readonly expiresAtMs?: number;
  /** The audience that the token was issued for. */
  readonly resource?: string;
  /** The verified claims, for handlers that need more. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** The token itself, for token exchange. Never logged, stored or passed on as it is. */
  readonly token?: string;
}

/** A token, and the request that it came with, to which it may be bound. */
export interface TokenRequest {
  /** `Bearer` or `DPoP`; undefined with no `Authorization` header. */
  readonly scheme: string | undefined;
  readonly token: string | undefined;
  readonly method: string;
  readonly url: string;
  header(name: string): string | undefined;
}

/**
 * Says whom a token speaks for.
 *
 * N1  Resolves only for a token that is valid now, for this resource.
 * N2  Rejects with `AuthChallengeError` (a value of `@mortise/protocol`) for a caller who could do better; with any other error
 *     for a fault of its own, which becomes a 500 and says nothing of its cause.
 */
export interface TokenVerifier {
  verify(request: TokenRequest, options: { readonly signal: AbortSignal }): Promise<AuthInfo>;
}

/** A verifier's second ability: words for a caller who was verified, but lacks the scopes of what it asked for. */
export interface ScopeChallenger {
  /**
   * @param auth What `verify` gave for the request.
   * @param scopes What the operation itself needs.
   * @returns The value of `WWW-Authenticate` that goes with a 403.
   */
  challengeScopes(auth: AuthInfo, scopes: readonly string[], request: { readonly scheme: string }): string;
}

/** What a server said when it refused a request. */
export interface Challenge {
  readonly status: number;
  readonly url: string;
  header(name: string): string | undefined;
  /** Counts from 1 within one call. */
  readonly attempt: number;
  /** What `headers` gave the refused request: another call may have come by something newer since. By lower-case name. */
  readonly given?: Readonly<Record<string, string>>;
}

/**
 * Gives a client's requests their authorization.
 *
 * A1  `headers` is asked before every request and is quick where a token is at hand.
 * A2  `onChallenge` is asked after a 401 or 403, at most three times a call; `retry` promises that something changed.
 * A3  Calls at once share one sign-in or refresh.
 */
export interface Authorizer {
  headers(
    request: { readonly method: string; readonly url: string },
    options?: { readonly signal?: AbortSignal },
  ): Promise<Readonly<Record<string, string>>>;
  onChallenge(challenge: Challenge, options?: { readonly signal?: AbortSignal }): Promise<'retry' | 'fail'>;
}

/**
 * Keeps a client's credentials and tokens, by issuer. What belongs to one issuer is never given out for another.
 *
 * C1  `get` gives what the last finished `put` wrote for that issuer and key.
 */
export interface CredentialStore {
  get(issuer: string, key: string): Promise<JsonObject | undefined>;
  put(issuer: string, key: string, value: JsonObject): Promise<void>;
  delete(issuer: string, key?: string): Promise<void>;
}

/**
 * A credential store's second ability.
 *
 * C2  `withLock` runs one caller at a time over all processes that share the store, and releases the lock when `fn` settles.
 */
export interface LockingStore {
  withLock<T>(name: string, fn: () => Promise<T>, options?: { readonly signal?: AbortSignal }): Promise<T>;
}
