/** Reading a token apart from the way in which it was presented: one reader serves bearer tokens and tokens bound to a key. */

import type { AuthInfo } from '@mortise/protocol/contracts';

/**
 * Finds out what a token says.
 *
 * R1  Resolves only for a token that is valid now and was issued for this server.
 * R2  Rejects with `InvalidTokenError` for any other token; with any other error for a fault of its own.
 * R3  A token that is bound to a key has the claim `cnf`, as RFC 7800 writes it.
 */
export interface TokenReader {
  read(token: string, options: { readonly signal: AbortSignal }): Promise<AuthInfo>;
}
