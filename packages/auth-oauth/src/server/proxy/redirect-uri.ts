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
