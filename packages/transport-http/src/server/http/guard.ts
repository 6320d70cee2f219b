/**
 * Checks `Host` and `Origin` of every request first. This prevents DNS rebinding, by which a web page that the user visits could reach
 * servers on the user's machine or network. The allowed origins also set the CORS headers, which let their pages call the server.
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
/** The response headers that a browser lets a page read. `DPoP-Nonce` is needed for DPoP (RFC 9449 section 8). */
const EXPOSED = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, DPoP-Nonce, Retry-After';
const MAX_AGE_SECONDS = '7200';

/** Matches the name of an `Mcp-Param-*` header in a CORS preflight request. Limited in length, because the response repeats it. */
const PARAM_HEADER = /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]{1,128}$/;

export class Guard {
  /** Whether the option `allowedOrigins` contains `*`, so that pages of all origins may call. */
  readonly allowsAnyOrigin: boolean;
  readonly #check: HostGuard;
  /** The host of the last allowed request. A request with the same host and kind of socket needs no further check, which saves time. */
  #lastHost: string | undefined;
  #lastIsLoopback = false;
  #hasWarnedOfPage = false;

  /** @throws {HttpOptionError} `ERR_HTTP_OPTION`: an entry of `allowedHosts` or `allowedOrigins` is not a host or origin. */
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
   * Checks that the request's host is allowed and, if a web page sent the request, the page's origin.
   *
   * @returns The origin of the web page that sent the request; undefined if no web page sent it.
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
    const allowsPage = this.allowsAnyOrigin || (origin !== undefined && isGiven(http, origin));
    const reason = this.#check({ host, origin: allowsPage ? undefined : origin, isLoopbackSocket });
    if (reason !== undefined) {
      if (origin !== undefined) this.#warnOfPage(http, reason);
      throw new HttpRefusal(403, reason);
    }
    if (origin === undefined) {
      this.#lastHost = host;
      this.#lastIsLoopback = isLoopbackSocket;
    }
    return origin;
  }

  /** Logs the first refusal of a web page: the browser hides the response, so its author sees no reason. */
  #warnOfPage(http: HttpExchange, reason: string): void {
    if (this.#hasWarnedOfPage) return;
    this.#hasWarnedOfPage = true;
    http.shared.settings.logger.log('warning', `A web page was refused. ${reason}, or let a CORS middleware allow it`);
  }
}

function sentTwice(header: string): HttpRefusal {
  return new HttpRefusal(400, `The header "${header}" may come once only`, header.startsWith('mcp-') ? { rpcCode: HEADER_MISMATCH } : {});
}

/** Whether a CORS middleware of the program has already allowed the page: the program's author has decided then. */
function isGiven({ givenOrigin }: HttpExchange, origin: string): boolean {
  return givenOrigin === ANY || givenOrigin === origin;
}

/**
 * The CORS headers that let a web page read the response. They do not allow credentials mode, because MCP sends its token in a header. What
 * a CORS middleware has allowed stays as it is; usually it does not expose the session's id.
 */
export function corsHeaders(http: HttpExchange, origin: string): HeaderList {
  const { guard } = http.shared.settings;
  const expose = ['Access-Control-Expose-Headers', EXPOSED];
  if (isGiven(http, origin)) return expose;
  if (guard.allowsAnyOrigin) return ['Access-Control-Allow-Origin', '*', ...expose];
  return ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin', ...expose];
}

/** More headers for the response to a CORS preflight. `Mcp-Param-*` has no fixed names, so the requested names are repeated. */
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
