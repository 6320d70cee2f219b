/** Reads the `Authorization` header of a request, before anything of it is believed. */

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
 * @returns undefined for what is not that.
 * @see RFC 9110 section 11.4; RFC 6750 section 2.1
 */
export function parseAuthorization(header: string): Credentials | undefined {
  const match = CREDENTIALS.exec(header);
  return match ? { scheme: toCanonicalScheme(match[1] ?? ''), token: match[2] } : undefined;
}

/** Schemes are compared without case. */
function toCanonicalScheme(scheme: string): string {
  const lower = scheme.toLowerCase();
  if (lower === 'bearer') return 'Bearer';
  return lower === 'dpop' ? 'DPoP' : scheme;
}
