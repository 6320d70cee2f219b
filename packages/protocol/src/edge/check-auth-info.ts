/** Holds a token verifier to its promise, so that one that says nothing lets nobody in. */

import type { AuthInfo } from '../contracts/principal.ts';

/**
 * Gives back what a `TokenVerifier` resolved to.
 *
 * @throws {TypeError} It says neither who calls nor what they may do: `undefined`, a boolean, an object without a principal or scopes.
 * That is a fault of the verifier, and nobody is let in.
 */
export function checkAuthInfo(info: unknown): AuthInfo {
  const { principal, scopes } = (typeof info === 'object' && info !== null ? info : {}) as Partial<AuthInfo>;
  if (typeof principal === 'string' && principal !== '' && Array.isArray(scopes)) return info as AuthInfo;
  throw new TypeError(
    'The tokenVerifier must resolve to who calls, { principal: "a text", scopes: [...] }, and reject with AuthChallengeError for a token that it refuses',
  );
}
