/**
 * The check of the headers `Host` and `Origin` for all HTTP requests and WebSocket upgrades. It prevents web pages from calling servers on
 * this machine or in a private network, including by DNS rebinding.
 */

import { isLoopbackHost } from './address.ts';

/** Which requests a `HostGuard` allows, besides those from this machine to this machine. */
export interface GuardOptions {
  /**
   * The allowed values of the `Host` header: `example.com` for any port, or `example.com:8443` for one. On a connection to a loopback
   * address, `localhost` and loopback addresses are always allowed.
   * @default any host; on a connection to a loopback address only `localhost` and loopback addresses
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of web pages that may call, such as `https://app.example.com`. @default none; on a loopback connection, local pages */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** The parts of an HTTP request that a `HostGuard` checks. */
export interface GuardedRequest {
  /** The `Host` header as received; undefined if absent or sent twice. */
  readonly host: string | undefined;
  /** The `Origin` header as received; undefined if absent. Only browsers send it. */
  readonly origin: string | undefined;
  /** Whether the client connected to a loopback address of the server. */
  readonly isLoopbackSocket: boolean;
}

/** Checks the `Host` and `Origin` of a request. Returns the reason to refuse it with 403; undefined to allow it. */
export type HostGuard = (request: GuardedRequest) => string | undefined;

/**
 * Creates a function that checks the `Host` and `Origin` headers of requests.
 *
 * An `Origin` that is not allowed is always refused. `Host` is checked only on a connection to a loopback address, or if `allowedHosts` is
 * set.
 *
 * @throws {TypeError} An entry of `allowedHosts` or `allowedOrigins` is not a valid host or origin.
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
  if (found === undefined) return 'Host header is missing, sent twice or malformed';
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
  if (found === undefined) return 'Origin header is opaque ("null") or malformed';
  if (allowed.has(found.origin) || (isLoopbackSocket && isLoopbackHost(found.hostname))) return undefined;
  // A page of this server itself, under a host name in `allowedHosts`.
  const own = host === undefined ? undefined : readHost(host);
  const isOwnPage = own !== undefined && isAllowed(own, hosts) && found.host === new URL(`${found.protocol}//${host}`).host;
  return isOwnPage ? undefined : `Origin "${found.origin}" is not allowed: add it to allowedOrigins`;
}

function isAllowed(host: HostName, allowed: readonly HostName[] | undefined): boolean {
  return allowed?.some(({ name, port }) => name === host.name && (port === undefined || port === host.port)) === true;
}

/** Parses a host in the form `name`, `name:port`, `[address]` or `[address]:port`; undefined if invalid. */
function readHost(text: string): HostName | undefined {
  const [, name, port] = /^(\[[\da-fA-F:.]+\]|[A-Za-z\d._-]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase().replace(/\.$/, ''), port };
}

/** Parses an origin: scheme, host and optional port; undefined if invalid. */
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
