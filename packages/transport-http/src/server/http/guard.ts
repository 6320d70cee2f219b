/**
 * Checks Host and Origin of every request before anything else, which prevents DNS rebinding: web pages that the user visits cannot reach
 * servers on the user's machine or network. The same list of origins sets the CORS headers, by which browsers let a page call.
 *
 * @see 2026-07-28 basic/transports/streamable-http#security--endpoint; https://fetch.spec.whatwg.org/#http-cors-protocol
 */

import { createHostGuard, type HostGuard } from '@mortise/protocol/edge';
import { HEADER_MISMATCH } from '@mortise/protocol/wire';
import { HttpOptionError } from '../../errors.ts';
import type { HttpExchange } from './http-exchange.ts';
import type { HttpHandlerOptions } from '../options.ts';
import { type HeaderList, HttpRefusal } from './refusal.ts';

const ANY = '*';

const CORS_METHODS = 'GET, POST, DELETE, OPTIONS';
const ALLOWED = [
  'Content-Type',
  'Accept',
  'Authorization',
  'DPoP',
  'Mcp-Session-Id',
  'MCP-Protocol-Version',
  'Last-Event-ID',
  'Mcp-Method',
  'Mcp-Name',
];
/** The response headers that a client reads. `DPoP-Nonce` is needed for DPoP (RFC 9449 section 8). */
const EXPOSED = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, DPoP-Nonce, Retry-After';
const MAX_AGE_SECONDS = '7200';

/** An `Mcp-Param-*` header in a preflight request. Limited in length, because the response repeats it. */
const PARAM_HEADER = /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]{1,128}$/;

export class Guard {
  /** Whether the program allows pages of all origins. */
  readonly allowsAnyOrigin: boolean;
  readonly #check: HostGuard;
  /** The last allowed host and the kind of its socket. A shortcut, because most requests have the same. */
  #lastHost: string | undefined;
  #lastIsLoopback = false;

  /** @throws {HttpOptionError} `ERR_HTTP_OPTION`: an entry is not a host or origin. */
  constructor({ allowedHosts, allowedOrigins = [] }: Pick<HttpHandlerOptions, 'allowedHosts' | 'allowedOrigins'>) {
    this.allowsAnyOrigin = allowedOrigins.includes(ANY);
    try {
      this.#check = createHostGuard({
        allowedOrigins: allowedOrigins.filter((origin) => origin !== ANY),
        ...(allowedHosts === undefined ? {} : { allowedHosts }),
      });
    } catch (error) {
      throw new HttpOptionError(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  /**
   * Checks that the request's host is allowed and, if a web page sent it, the page's origin.
   *
   * @returns The origin of the calling web page; undefined without one.
   * @throws {HttpRefusal} 400: the host or origin is missing or ambiguous. 403: it is not allowed.
   */
  check(http: HttpExchange): string | undefined {
    const duplicate = http.findDuplicateHeader();
    if (duplicate !== undefined) throw sentTwice(duplicate);
    const host = http.authority;
    if (host === undefined)
      throw new HttpRefusal(400, 'The request must name one host: send one "Host" header that agrees with the request target');
    const origin = http.header('origin');
    // An unknown socket counts as loopback, for which the stricter rules apply.
    const isLoopbackSocket = http.isLoopback !== false;
    if (origin === undefined && host === this.#lastHost && isLoopbackSocket === this.#lastIsLoopback) return undefined;
    const reason = this.#check({ host, origin: this.allowsAnyOrigin ? undefined : origin, isLoopbackSocket });
    if (reason !== undefined) throw new HttpRefusal(403, reason);
    if (origin === undefined) {
      this.#lastHost = host;
      this.#lastIsLoopback = isLoopbackSocket;
    }
    return origin;
  }
}

function sentTwice(header: string): HttpRefusal {
  return new HttpRefusal(400, `The header "${header}" may come once only`, header.startsWith('mcp-') ? { rpcCode: HEADER_MISMATCH } : {});
}

/** The headers that let a page read the response. Without credentials mode, because MCP sends its token in a header. */
export function corsHeaders(guard: Guard, origin: string): HeaderList {
  const expose = ['Access-Control-Expose-Headers', EXPOSED];
  if (guard.allowsAnyOrigin) return ['Access-Control-Allow-Origin', '*', ...expose];
  return ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin', ...expose];
}

/** More headers for a preflight response. `Mcp-Param-*` has no fixed names, so the requested ones are repeated. */
export function preflightHeaders(http: HttpExchange): HeaderList {
  const asked = (http.header('access-control-request-headers') ?? '').toLowerCase().split(',');
  const params = asked.map((name) => name.trim()).filter((name) => PARAM_HEADER.test(name));
  return [
    'Access-Control-Allow-Methods',
    CORS_METHODS,
    'Access-Control-Allow-Headers',
    [...ALLOWED, ...params].join(', '),
    'Access-Control-Max-Age',
    MAX_AGE_SECONDS,
  ];
}
