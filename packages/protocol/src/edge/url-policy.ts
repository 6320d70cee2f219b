/** Checks URLs from peers before a program fetches, opens or forwards them. */

import { classifyHost } from './address.ts';

/** Which URLs `checkUrl` allows, besides https URLs of public hosts. */
export interface UrlPolicy {
  /** Allows http and https URLs of this machine. Set it for peers that run on this machine. @default false */
  readonly allowLoopback?: boolean;
  /** Allows URLs of private, link-local, cloud metadata and reserved addresses. @default false */
  readonly allowPrivate?: boolean;
  /** Allows http URLs of hosts other than this machine. @default false */
  readonly allowHttp?: boolean;
  /** Hosts that are allowed even if they are local or private, by exact name without port. @default none */
  readonly allowedHosts?: readonly string[];
}

/**
 * Checks a URL from a peer, and returns the reason if it must not be used.
 *
 * Checks only the text, but in all its forms: decimal, octal, hex and IPv6-mapped addresses, trailing dots. Does not look up names in DNS:
 * also check the resolved address with `classifyHost` before you connect.
 *
 * @returns undefined if the URL is allowed; else one sentence. It names the host only, not the rest of the URL.
 * @see 2026-07-28 basic/authorization/security-considerations
 */
export function checkUrl(url: string | URL, policy: UrlPolicy = {}): string | undefined {
  const parsed = typeof url === 'string' ? parse(url) : url;
  if (parsed === undefined) return 'URL is invalid: use an absolute https URL';
  const { protocol, hostname } = parsed;
  if (protocol !== 'https:' && protocol !== 'http:') return `URL has the scheme "${protocol.slice(0, 40)}": only https is allowed`;
  if (parsed.username !== '' || parsed.password !== '') return `URL to ${hostname} has a user name or password: leave them out`;
  // URLs allow these in a host name; DNS and certificates do not, and a shell would interpret them.
  if (/[^\w.:[\]-]/.test(hostname)) return 'URL has a host name with forbidden characters: use letters, digits, "-" and "."';
  const kind = classifyHost(hostname);
  if (policy.allowedHosts?.includes(hostname.replace(/\.$/, '')) !== true) {
    if (kind === 'loopback' && policy.allowLoopback !== true) return `URL leads to this machine (${hostname}): that is not allowed`;
    if (kind === 'private' && policy.allowPrivate !== true)
      return `URL leads to a private or reserved address (${hostname}): that is not allowed`;
  }
  if (protocol === 'http:' && kind !== 'loopback' && policy.allowHttp !== true) return `URL to ${hostname} is not https: use https`;
  return undefined;
}

function parse(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}
