/** Where a browser may be sent with a code. @see 2026-07-28 basic/authorization/security-considerations#open-redirection; RFC 9700 section 2.1 */

import { isLoopbackHost } from '@mortise/protocol/edge';
import { OAuthRefusal } from './errors.ts';

const MAX_URIS = 20;
/** Of all redirect URIs of one client: anyone may register, and ten thousand of them must stay small. */
const MAX_CHARACTERS = 4_096;

/**
 * Reads the redirect URIs that a client wants.
 *
 * @param what Names the document that lists them, in errors.
 * @throws {OAuthRefusal} `invalid_redirect_uri`: none, too many, or one that is not allowed.
 */
export function readRedirectUris(value: unknown, what: string, privateSchemes: readonly string[]): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_URIS)
    throw new OAuthRefusal('invalid_redirect_uri', `${what} must list 1 to ${MAX_URIS} redirect URIs`);
  const uris = value.map((uri: unknown) => {
    const why = typeof uri === 'string' ? judgeRedirectUri(uri, privateSchemes) : 'is not a string';
    if (typeof uri === 'string' && why === undefined) return uri;
    throw new OAuthRefusal('invalid_redirect_uri', `${what} has a redirect URI that ${why}`);
  });
  if (uris.join('').length <= MAX_CHARACTERS) return uris;
  throw new OAuthRefusal('invalid_redirect_uri', `${what} lists redirect URIs of more than ${MAX_CHARACTERS} characters`);
}

/** @returns Why a client may not use a redirect URI; undefined for one that it may. */
function judgeRedirectUri(uri: string, privateSchemes: readonly string[]): string | undefined {
  if (!URL.canParse(uri)) return 'is not an absolute URL';
  const { protocol, username, password, hostname } = new URL(uri);
  if (uri.includes('#')) return 'has a fragment';
  if (username !== '' || password !== '') return 'holds a user name or password';
  if (/[*\\\s]/.test(uri)) return 'holds a wildcard, a backslash or a space';
  if (protocol === 'https:') return undefined;
  if (protocol === 'http:') return isLoopbackHost(hostname) ? undefined : 'is http to another machine: use https';
  return privateSchemes.includes(protocol.slice(0, -1)) ? undefined : 'is neither https nor http on this machine';
}

/** Whether a redirect ends in some program on the user's machine, which nobody can distinguish from another. */
export function isLocalRedirect(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol !== 'https:' || isLoopbackHost(hostname);
}

const LOOPBACK_PORT = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d{1,5}(?=[/?]|$)/;

/**
 * Whether a redirect URI is one that the client has registered: character by character, since any leniency here sends codes to
 * strangers. A loopback one that was registered without a port stands for every port of that host.
 *
 * @see RFC 8252 section 7.3
 */
export function isRegisteredRedirect(uri: string, registered: readonly string[]): boolean {
  return registered.includes(uri) || (LOOPBACK_PORT.test(uri) && registered.includes(uri.replace(LOOPBACK_PORT, '$1')));
}
