/** Classifies hosts as loopback (this machine), private or public by their text alone, without DNS. */

/** How a host is classified. `private` includes link-local, cloud metadata, shared, reserved and documentation addresses. */
export type HostKind = 'loopback' | 'private' | 'public';

/** The IPv4 ranges that are not public: first address, prefix length and kind. @see IANA IPv4 Special-Purpose Address Registry */
const SPECIAL_IPV4: readonly (readonly [string, number, HostKind])[] = [
  ['127.0.0.0', 8, 'loopback'],
  ['0.0.0.0', 8, 'private'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'private'],
  ['169.254.0.0', 16, 'private'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'private'],
  ['192.0.2.0', 24, 'private'],
  ['192.88.99.0', 24, 'private'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'private'],
  ['198.51.100.0', 24, 'private'],
  ['203.0.113.0', 24, 'private'],
  ['224.0.0.0', 3, 'private'],
];

/** The endings of host names that only private networks use. */
const PRIVATE_SUFFIXES: readonly string[] = ['.local', '.internal', '.home.arpa', '.lan', '.intranet', '.corp', '.home', '.svc'];

/**
 * Tells whether a host is this machine, private or public, by its text alone. Does not look up names in DNS.
 *
 * @param hostname The value of `URL.hostname`, which writes every form of an IPv4 address (decimal, octal, hex, short) with dots; or an
 * address from a DNS resolver. Brackets and a trailing dot are allowed.
 */
export function classifyHost(hostname: string): HostKind {
  const host = hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  if (host.includes(':')) return classifyIpv6(host);
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return classifyIpv4(toNumber(host));
  if (host === 'localhost' || host.endsWith('.localhost')) return 'loopback';
  const isBareName = !host.includes('.');
  return isBareName || PRIVATE_SUFFIXES.some((suffix) => host.endsWith(suffix)) ? 'private' : 'public';
}

/** Tells whether a host is `localhost` or a loopback address. Does not look up names in DNS. */
export function isLoopbackHost(hostname: string): boolean {
  return classifyHost(hostname) === 'loopback';
}

/** Gives the host that local clients can connect to: `localhost` for a server that listens at `0.0.0.0` or `::` (all addresses). */
export function toReachableHost(host: string): string {
  return host === '0.0.0.0' || host === '::' ? 'localhost' : host;
}

function classifyIpv4(address: number): HostKind {
  if (Number.isNaN(address)) return 'private';
  const range = SPECIAL_IPV4.find(([first, bits]) => address >>> (32 - bits) === toNumber(first) >>> (32 - bits));
  return range?.[2] ?? 'public';
}

/** Converts a dotted IPv4 address to a number; NaN if it is invalid. */
function toNumber(dotted: string): number {
  return dotted.split('.').reduce((sum, part) => (Number(part) > 255 ? Number.NaN : sum * 256 + Number(part)), 0);
}

/** Classifies an IPv6 address: by the IPv4 address in it, if any; else it is loopback, public (global unicast) or private. */
function classifyIpv6(host: string): HostKind {
  const groups = toGroups(host.replace(/%.*$/, ''));
  if (groups === undefined) return 'private';
  const [first = 0, second = 0] = groups;
  const tail = (groups[6] ?? 0) * 65_536 + (groups[7] ?? 0);
  const isZero = (count: number): boolean => groups.slice(0, count).every((group) => group === 0);
  if (isZero(7) && groups[7] === 1) return 'loopback';
  const isMapped = isZero(5) && groups[5] === 0xffff;
  const isTranslated = isZero(4) && groups[4] === 0xffff && groups[5] === 0;
  const isNat64 = first === 0x64 && second === 0xff9b && groups.slice(2, 6).every((group) => group === 0);
  if (isMapped || isTranslated || isNat64) return classifyIpv4(tail);
  if (first === 0x2002) return classifyIpv4(second * 65_536 + (groups[2] ?? 0));
  const isGlobal = first >= 0x2000 && first <= 0x3fff;
  const isReserved = (first === 0x2001 && (second < 0x200 || second === 0xdb8)) || (first === 0x3fff && second < 0x1000);
  return isGlobal && !isReserved ? 'public' : 'private';
}

/** Parses an IPv6 address into its eight groups; undefined if it is invalid. */
function toGroups(host: string): readonly number[] | undefined {
  const [, head, dotted] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(host) ?? [];
  const v4 = dotted === undefined ? undefined : toNumber(dotted);
  if (Number.isNaN(v4)) return undefined;
  const text = v4 === undefined ? host : `${head}${(v4 >>> 16).toString(16)}:${(v4 & 0xffff).toString(16)}`;
  const halves = text.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const [left = [], right = []] = halves;
  const missing = halves.length === 2 ? 8 - left.length - right.length : 0;
  const parts = [...left, ...Array.from({ length: Math.max(0, missing) }, () => '0'), ...right];
  const isAddress = halves.length <= 2 && parts.length === 8 && parts.every((part) => /^[\da-f]{1,4}$/.test(part));
  return isAddress ? parts.map((part) => Number.parseInt(part, 16)) : undefined;
}

/** Returns the network of a remote address: the /64 of an IPv6 address, which is what one customer has; an IPv4 address as it is. */
export function toNetwork(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address.replace(/^::ffff:/, '');
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}
