/**
 * Credentials are stored with their issuer, and never sent to another authorization server: a hostile MCP server could name its own one and
 * collect them.
 */

interface Stamped {
  issuer?: string | undefined;
}

/** Returns a stored value unless it is stamped for another authorization server. A value without a stamp was stored by an older version. */
export function unlessOfOther<T extends Stamped>(stored: T | undefined | null, issuer: string): T | undefined {
  if (!stored) return undefined;
  if (typeof stored.issuer !== 'string') return stored;
  return isSame(stored.issuer, issuer) ? stored : undefined;
}

/** The error for credentials that cannot be replaced, and belong to another authorization server. */
export function boundElsewhere(stored: Stamped, issuer: string): Error {
  return new Error(
    `OAuth client information is bound to authorization server ${stored.issuer} and is not presented to ${issuer}. ` +
      'Clear the stored client information, or correct `expectedIssuer`, if the authorization server has moved.',
  );
}

/** Compares URLs as parsed, and up to a slash at the end: metadata often leaves it out. */
function isSame(a: string, b: string): boolean {
  const [left, right] = [a, b].map((each) => (URL.canParse(each) ? new URL(each).href : each).replace(/\/$/, ''));
  return left === right;
}
