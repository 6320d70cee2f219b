/** Judges URLs that a peer gave before anything is fetched, opened or handed on. */

import { classifyHost } from './address.ts';

/** What is allowed beyond https to public hosts. */
export interface UrlPolicy {
  /** http and https to this machine: for peers that are on this machine themselves. @default false */
  readonly allowLoopback?: boolean;
  /** Private, link-local, metadata and reserved addresses. @default false */
  readonly allowPrivate?: boolean;
  /** http to hosts other than this machine. @default false */
  readonly allowHttp?: boolean;
  /** Hosts that are allowed whatever their address, by exact name without port. @default none */
  readonly allowedHosts?: readonly string[];
}

/**
 * Says why a URL must not be used.
 *
 * Judges by spelling alone, in every one of them: decimal, octal, hex and IPv6-mapped addresses, closing dots. Where names are resolved,
 * give the address that will be connected to to `classifyHost` as well.
 *
 * @returns undefined for a URL that may be used; else one sentence that holds its host but not the rest of it.
 * @see 2026-07-28 basic/authorization/security-considerations
 */
export function checkUrl(url: string | URL, policy: UrlPolicy = {}): string | undefined {
  const parsed = typeof url === 'string' ? parse(url) : url;
  if (parsed === undefined) return 'URL cannot be read: give an absolute https URL';
  const { protocol, hostname } = parsed;
  if (protocol !== 'https:' && protocol !== 'http:') return `URL has the scheme "${protocol.slice(0, 40)}": only https is allowed`;
  if (parsed.username !== '' || parsed.password !== '') return `URL to ${hostname} carries a user name or password: leave them out`;
  const kind = classifyHost(hostname);
  if (policy.allowedHosts?.includes(hostname.replace(/\.$/, '')) !== true) {
    if (kind === 'loopback' && policy.allowLoopback !== true) return `URL leads to this machine (${hostname}): that is not allowed`;
    if (kind === 'private' && policy.allowPrivate !== true)
      return `URL leads to a private or reserved address (${hostname}): that is not allowed`;
  }
  if (protocol === 'http:' && kind !== 'loopback' && policy.allowHttp !== true) return `URL to ${hostname} is not https`;
  return undefined;
}

function parse(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}
