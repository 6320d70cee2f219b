/** Who calls: the `Authorization` header as it came, and what a `TokenVerifier` made of it. */

import type { AuthInfo } from '../contracts/auth.ts';

/** What a request shows of itself. */
export interface Credentials {
  /** `Bearer` and `DPoP` by these spellings, others as they came. */
  readonly scheme: string;
  /** Undefined for a scheme without one. */
  readonly token: string | undefined;
}

const CREDENTIALS = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?: +([A-Za-z0-9\-._~+/]+=*))? *$/;

/**
 * Reads one scheme and at most one token.
 *
 * @param header The header's value.
 * @returns undefined for anything else.
 * @see RFC 9110 section 11.4; RFC 6750 section 2.1
 */
export function parseAuthorization(header: string): Credentials | undefined {
  const [, scheme, token] = CREDENTIALS.exec(header) ?? [];
  if (scheme === undefined) return undefined;
  // Schemes are compared without case.
  return { scheme: SPELLINGS.find((each) => each.toLowerCase() === scheme.toLowerCase()) ?? scheme, token };
}

const SPELLINGS: readonly string[] = ['Bearer', 'DPoP'];

/**
 * Gives back what a `TokenVerifier` resolved to, if it says who calls and what they may do. A verifier that says neither lets nobody in.
 *
 * @throws {TypeError} It is `undefined`, a boolean, an object without a principal or scopes: a mistake in the verifier.
 */
export function checkAuthInfo(info: unknown): AuthInfo {
  const { principal, scopes } = (typeof info === 'object' && info !== null ? info : {}) as Partial<AuthInfo>;
  if (typeof principal === 'string' && principal !== '' && Array.isArray(scopes)) return info as AuthInfo;
  throw new TypeError(
    'The tokenVerifier must resolve to who calls, { principal: "a text", scopes: [...] }, and reject with AuthChallengeError for a token that it refuses',
  );
}
