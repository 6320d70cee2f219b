/** Parses `Authorization` headers, and checks what a `TokenVerifier` returned. */

import type { AuthInfo } from '../contracts/auth.ts';

/** The scheme and token of an `Authorization` header. */
export interface Credentials {
  /** The scheme. `Bearer` and `DPoP` are always spelled like this, other schemes as received. */
  readonly scheme: string;
  /** The token; undefined if the header has only a scheme. */
  readonly token: string | undefined;
}

const CREDENTIALS = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?: +([A-Za-z0-9\-._~+/]+=*))? *$/;

/**
 * Parses an `Authorization` header with one scheme and at most one token.
 *
 * @param header The header value.
 * @returns undefined if the header has another form.
 * @see RFC 9110 section 11.4; RFC 6750 section 2.1
 */
export function parseAuthorization(header: string): Credentials | undefined {
  const [, scheme, token] = CREDENTIALS.exec(header) ?? [];
  if (scheme === undefined) return undefined;
  // Schemes are case-insensitive.
  return { scheme: SPELLINGS.find((each) => each.toLowerCase() === scheme.toLowerCase()) ?? scheme, token };
}

const SPELLINGS: readonly string[] = ['Bearer', 'DPoP'];

/**
 * Checks that a `TokenVerifier` returned an `AuthInfo` with a principal and scopes, and returns it. So a verifier that forgets them lets
 * nobody in.
 *
 * @throws {TypeError} The verifier has a bug: it returned undefined, a boolean, or an object without a principal or scopes.
 */
export function checkAuthInfo(info: unknown): AuthInfo {
  const { principal, scopes } = (typeof info === 'object' && info !== null ? info : {}) as Partial<AuthInfo>;
  if (typeof principal === 'string' && principal !== '' && Array.isArray(scopes)) return info as AuthInfo;
  throw new TypeError('The tokenVerifier must resolve to { principal: "a non-empty string", scopes: [...] }, and reject to refuse a token');
}
