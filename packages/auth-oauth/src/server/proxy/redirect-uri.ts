/** Where a browser may be sent with a code. @see 2026-07-28 basic/authorization/security-considerations#open-redirection; RFC 9700 section 2.1 */

import { isLoopbackHost } from '@mortise/protocol/edge';

/** @returns Why a client may not register a redirect URI; undefined for one that it may. */
export function judgeRedirectUri(uri: string, privateSchemes: readonly string[]): string | undefined {
  if (!URL.canParse(uri)) return 'is no absolute URL';
  const { protocol, username, password, hostname } = new URL(uri);
  if (uri.includes('#')) return 'has a fragment';
  if (username !== '' || password !== '') return 'holds a user name or password';
  if (/[*\\\s]/.test(uri)) return 'holds a wildcard, a backslash or a space';
  if (protocol === 'https:') return undefined;
  if (protocol === 'http:') return isLoopbackHost(hostname) ? undefined : 'is http to another machine: use https';
  return privateSchemes.includes(protocol.slice(0, -1)) ? undefined : 'is neither https nor http on this machine';
}

/** Whether a redirect ends in some program on the user's machine, which nobody can tell from another. */
export function isLocalRedirect(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol !== 'https:' || isLoopbackHost(hostname);
}

const LOOPBACK_PORT = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d{1,5}(?=[/?]|$)/;

/**
 * Whether a redirect URI is one that a client has registered: character by character, since whatever is forgiven here sends codes to
 * strangers. A loopback one that was registered without a port stands for every port of that host.
 *
 * @see RFC 8252 section 7.3
 */
export function isRegisteredRedirect(uri: string, registered: readonly string[]): boolean {
  return registered.includes(uri) || (LOOPBACK_PORT.test(uri) && registered.includes(uri.replace(LOOPBACK_PORT, '$1')));
}
