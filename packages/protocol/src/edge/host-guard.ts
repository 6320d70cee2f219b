/**
 * The one check of `Host` and `Origin` for every entry point: POST, GET, DELETE, event streams and upgrades, on Node and with web standards.
 * It keeps web pages away from servers on this machine and inside networks, also by DNS rebinding.
 */

import { isLoopbackHost } from './address.ts';

/** What a guard lets in beside requests from this machine to this machine. */
export interface GuardOptions {
  /**
   * Names that `Host` may have, `example.com` for any port or `example.com:8443` for one. Where given, no other is accepted
   * but this machine's own on a loopback socket.
   * @default any on a socket to the outside, this machine's own on a loopback socket
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of web pages that may call, as `https://app.example.com`. @default this machine's own pages, on a loopback socket */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** What a guard looks at. */
export interface GuardedRequest {
  /** `Host` as it came; undefined where it is absent or sent twice. */
  readonly host: string | undefined;
  /** `Origin` as it came; undefined where it is absent, as with programs other than browsers. */
  readonly origin: string | undefined;
  /** The server's end of the socket is a loopback address. */
  readonly isLoopbackSocket: boolean;
}

/** Says why a request is refused, with 403; undefined lets it in. */
export type HostGuard = (request: GuardedRequest) => string | undefined;

/**
 * Makes a guard.
 *
 * A foreign `Origin` is always refused; a foreign `Host` whenever the socket is on loopback or `allowedHosts` is given.
 *
 * @throws {TypeError} For an entry that is no host or origin.
 * @see 2025-11-25 basic/transports#security-warning
 */
export function createHostGuard(options: GuardOptions = {}): HostGuard {
  const hosts = options.allowedHosts?.map((entry) => readHost(entry) ?? refuse('allowedHosts', entry));
  const origins = new Set(options.allowedOrigins?.map((entry) => readOrigin(entry)?.origin ?? refuse('allowedOrigins', entry)));
  return (request) => checkHost(request, hosts) ?? checkOrigin(request, hosts, origins);
}

interface HostName {
  readonly name: string;
  readonly port: string | undefined;
}

function checkHost({ host, isLoopbackSocket }: GuardedRequest, allowed: readonly HostName[] | undefined): string | undefined {
  if (allowed === undefined && !isLoopbackSocket) return undefined;
  const found = host === undefined ? undefined : readHost(host);
  if (found === undefined) return 'Host is missing, doubled or malformed';
  if (isLoopbackSocket && isLoopbackHost(found.name)) return undefined;
  return isAllowed(found, allowed) ? undefined : `Host "${found.name}" is not allowed: add it to allowedHosts`;
}

function checkOrigin(
  { host, origin, isLoopbackSocket }: GuardedRequest,
  hosts: readonly HostName[] | undefined,
  allowed: ReadonlySet<string>,
): string | undefined {
  if (origin === undefined) return undefined;
  const found = readOrigin(origin);
  if (found === undefined) return 'Origin is opaque or malformed';
  if (allowed.has(found.origin) || (isLoopbackSocket && isLoopbackHost(found.hostname))) return undefined;
  // A page of the server's own, under a name that the program vouches for.
  const own = host === undefined ? undefined : readHost(host);
  const isOwnPage = own !== undefined && isAllowed(own, hosts) && found.host === new URL(`${found.protocol}//${host}`).host;
  return isOwnPage ? undefined : `Origin "${found.origin}" is not allowed: add it to allowedOrigins`;
}

function isAllowed(host: HostName, allowed: readonly HostName[] | undefined): boolean {
  return allowed?.some(({ name, port }) => name === host.name && (port === undefined || port === host.port)) === true;
}

/** Reads `name`, `name:port`, `[address]` or `[address]:port`, and nothing else. */
function readHost(text: string): HostName | undefined {
  const [, name, port] = /^(\[[\da-fA-F:.]+\]|[A-Za-z\d._-]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase().replace(/\.$/, ''), port };
}

/** Reads a scheme, host and port, and nothing after them. */
function readOrigin(text: string): URL | undefined {
  if (!/^[a-zA-Z][a-zA-Z\d+.-]*:\/\/[^/?#@\s\\]+$/.test(text)) return undefined;
  try {
    const url = new URL(text);
    return url.origin === 'null' ? undefined : url;
  } catch {
    return undefined;
  }
}

function refuse(option: string, entry: string): never {
  throw new TypeError(
    `${option}: "${entry}" is not ${option === 'allowedHosts' ? 'a host such as "example.com" or "example.com:8443"' : 'an origin such as "https://app.example.com"'}`,
  );
}
