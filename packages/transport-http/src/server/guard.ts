/**
 * The one guard that every door calls before anything else: POST, GET, DELETE, OPTIONS, the HTTP+SSE endpoints and the metadata, on
 * both faces. It keeps web pages that a user happens to visit away from servers on the user's machine and network (DNS rebinding).
 *
 * @see 2026-07-28 basic/transports/streamable-http#security--endpoint
 */

import { HEADER_MISMATCH } from '@mortise/protocol';
import type { HttpRequest } from './http-request.ts';
import type { HttpHandlerOptions } from './options.ts';
import { HttpRefusal } from './refusal.ts';

/** What the guard found out about a request that it lets pass. */
export interface Admission {
  /** The web page's origin, where a page calls. */
  readonly origin: string | undefined;
}

/** Checks that a request names a host that is this server, and comes from no page that has no business here. */
export class Guard {
  readonly #hosts: ReadonlySet<string> | undefined;
  readonly #origins: ReadonlySet<string>;
  readonly #status: number;

  constructor(options: Pick<HttpHandlerOptions, 'allowedHosts' | 'allowedOrigins'>, badOriginStatus: number) {
    this.#hosts = options.allowedHosts === undefined ? undefined : new Set(options.allowedHosts.map((host) => normalizeHost(host)));
    this.#origins = new Set((options.allowedOrigins ?? []).map((origin) => (origin === '*' ? origin : new URL(origin).origin)));
    this.#status = badOriginStatus;
  }

  get allowsAnyOrigin(): boolean {
    return this.#origins.has('*');
  }

  /** @throws {HttpRefusal} 400 for headers that say two things, 403 for a foreign host or origin. */
  check(request: HttpRequest): Admission {
    const duplicate = request.findDuplicateHeader();
    if (duplicate !== undefined) throw duplicateRefusal(duplicate);
    const { authority } = request;
    if (authority === undefined) throw new HttpRefusal(400, 'The request must name one host: send one "Host" header that agrees with the request target');
    const host = normalizeHost(authority);
    const isOwn = this.#isOwnHost(host, request.isLoopback);
    if (!isOwn && (this.#hosts !== undefined || request.isLoopback !== false)) {
      throw new HttpRefusal(403, `The host "${printable(authority)}" is not served here: add it to "allowedHosts" if it is this server's`);
    }
    const origin = request.header('origin');
    if (origin !== undefined && !this.#isAllowedOrigin(origin, host, isOwn)) {
      throw new HttpRefusal(this.#status, `The origin "${printable(origin)}" may not call this server: add it to "allowedOrigins" if it should`);
    }
    return { origin };
  }

  /** A loopback name on a loopback socket cannot be another's; elsewhere only the program's list says which names are ours. */
  #isOwnHost(host: string, isLoopback: boolean | undefined): boolean {
    if (isLoopback !== false && isLoopbackName(stripPort(host))) return true;
    return this.#hosts !== undefined && (this.#hosts.has(host) || this.#hosts.has(stripPort(host)));
  }

  #isAllowedOrigin(value: string, host: string, isOwnHost: boolean): boolean {
    if (this.#origins.has('*') || this.#origins.has(value)) return true;
    const origin = toOrigin(value);
    if (origin === undefined) return false;
    if (this.#origins.has(origin.origin)) return true;
    // A page that this very server gave out may call it, but only where the host is known to be ours: a rebound name also "agrees".
    if (!isOwnHost) return false;
    return origin.host === withoutDefaultPort(host, origin.protocol) || (isLoopbackName(stripPort(host)) && isLoopbackName(origin.hostname));
  }
}

function duplicateRefusal(name: string): HttpRefusal {
  const message = `The header "${printable(name)}" may come once only`;
  return new HttpRefusal(400, message, name.startsWith('mcp-') ? { rpcCode: HEADER_MISMATCH } : {});
}

/** An `Origin` is a scheme, a host and a port, nothing else; `null` and everything odd is nobody's. */
function toOrigin(value: string): URL | undefined {
  if (!URL.canParse(value)) return undefined;
  const url = new URL(value);
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.origin.toLowerCase() === value.toLowerCase() ? url : undefined;
}

function normalizeHost(host: string): string {
  const lower = host.trim().toLowerCase();
  const name = stripPort(lower);
  const port = lower.slice(name.length);
  return (name.endsWith('.') ? name.slice(0, -1) : name) + port;
}

function stripPort(host: string): string {
  const at = host.lastIndexOf(':');
  return at > host.lastIndexOf(']') && at !== -1 ? host.slice(0, at) : host;
}

function withoutDefaultPort(host: string, protocol: string): string {
  const suffix = protocol === 'https:' ? ':443' : ':80';
  return host.endsWith(suffix) ? host.slice(0, -suffix.length) : host;
}

/** `localhost`, 127.0.0.0/8 and `[::1]`, in their plain spelling: whatever is spelt oddly is not taken for loopback. */
function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || name === '127.0.0.1' || /^127(?:\.\d{1,3}){3}$/.test(name);
}

const MAX_SHOWN = 100;

function printable(text: string): string {
  return text.slice(0, MAX_SHOWN).replaceAll(/[^\x20-\x7e]/g, '?');
}
