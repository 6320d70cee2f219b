/**
 * Says whom a token speaks for.
 *
 * N1  Resolves only for a token that is valid now, for this resource.
 * N2  Rejects with `AuthChallengeError` (a value of `@mortise/protocol`) for a caller who could do better; with any other error
 *     for a fault of its own, which becomes a 500 and says nothing of its cause.
 */

import type { AuthInfo } from './principal.ts';

/** A token, and the request that it came with, to which it may be bound. */
export interface TokenRequest {
  /** `Bearer` or `DPoP`; undefined with no `Authorization` header. */
  readonly scheme: string | undefined;
  readonly token: string | undefined;
  readonly method: string;
  readonly url: string;
  header(name: string): string | undefined;
}

/** Says whom a token speaks for. N1 and N2 above. */
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
