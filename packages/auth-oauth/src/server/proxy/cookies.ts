/** Cookies that no other host, no script and no foreign form can use: `__Host-`, `Secure`, `HttpOnly`, `SameSite=Lax`. */

/** The cookie that ties a consent page to the browser that it was shown in. */
export const CSRF_COOKIE = '__Host-mortise-csrf';

/** The cookie that says what this browser's user has consented to. */
export const CONSENT_COOKIE = '__Host-mortise-consent';

const FLOW_PREFIX = '__Host-mortise-flow-';

/** The cookie of one sign-in under way; several may be. @param stateDigest The digest of its state. */
export function flowCookie(stateDigest: string): string {
  return FLOW_PREFIX + stateDigest.slice(0, 16);
}

/** Writes a cookie. @param maxAgeMs 0 deletes it. */
export function writeCookie(name: string, value: string, maxAgeMs: number): string {
  return `${name}=${value}; Path=/; Max-Age=${Math.floor(maxAgeMs / 1000)}; Secure; HttpOnly; SameSite=Lax`;
}

/** Reads a cookie. The first of two with one name counts, as with a prefix only this host could have set both. */
export function readCookie(request: Request, name: string): string | undefined {
  const pairs = (request.headers.get('cookie') ?? '').split(/; */);
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}
