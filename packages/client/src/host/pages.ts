/** What the user should see of the address of a page that a server wants opened. */

import { classifyHost } from '@mortise/protocol/edge';

/**
 * What makes an address worth a second look.
 *
 * `punycode`: the host is written in an encoding of other scripts, which may look like another host. `ip-address`: a number instead of a
 * name. `not-https`: anybody between the two can read and change the page. `unusual-port`. `many-labels`: a long host may begin like another.
 */
export type PageWarning = 'punycode' | 'ip-address' | 'not-https' | 'unusual-port' | 'many-labels';

/** What the user must be able to see before agreeing to open a page. */
export interface PageAddress {
  /** The whole address as a browser would open it, in ASCII: nothing in it can look like something else. */
  readonly url: string;
  /** The host, in ASCII: `xn--` stays as it is, for its decoded form may look like another host. */
  readonly host: string;
  /** The end of the host, to be highlighted: its last two labels, three under endings such as `co.uk`. An estimate, not the public suffix list. */
  readonly domain: string;
  readonly warnings: readonly PageWarning[];
}

/**
 * Describes the address of a page.
 *
 * Does NOT check whether it may be opened: the client has done so before it calls a `url` handler or names the page in an error.
 *
 * @throws {TypeError} It is not an absolute URL.
 */
export function describePage(url: string): PageAddress {
  const parsed = new URL(url);
  const host = parsed.hostname;
  const labels = host.replace(/\.$/u, '').split('.');
  const isAddress = /^\[|^\d+\.\d+\.\d+\.\d+$/u.test(host);
  const warnings: PageWarning[] = [];
  if (labels.some((label) => label.startsWith('xn--'))) warnings.push('punycode');
  if (isAddress && classifyHost(host) !== 'loopback') warnings.push('ip-address');
  if (parsed.protocol !== 'https:') warnings.push('not-https');
  if (parsed.port !== '' && classifyHost(host) !== 'loopback') warnings.push('unusual-port');
  if (!isAddress && labels.length > 4) warnings.push('many-labels');
  return { url: parsed.href, host, domain: isAddress ? host : toDomain(labels), warnings };
}

/** Two labels, or three where the last two are short, as in `example.co.uk`. */
function toDomain(labels: readonly string[]): string {
  const [second = '', top = ''] = labels.slice(-2);
  return labels.slice(second.length <= 3 && top.length === 2 ? -3 : -2).join('.');
}
