/**
 * The check of Host and Origin, which every request meets before anything else: POST, GET, DELETE, OPTIONS, the HTTP+SSE endpoints and the
 * metadata, of `node:http` and of `fetch`. It keeps web pages that a user happens to visit away from servers on the user's machine and network (DNS
 * rebinding). And CORS, which tells browsers which pages may call, out of the same list.
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
/** What our own client reads: without the nonce no page could do DPoP (RFC 9449 section 8). */
const EXPOSED = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, DPoP-Nonce, Retry-After';
const MAX_AGE_SECONDS = '7200';

/** A header of an argument, as a page asks for it. Bounded, since the answer repeats it. */
const PARAM_HEADER = /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]{1,128}$/;

export class Guard {
  /** Any page may call: the program said so. */
  readonly allowsAnyOrigin: boolean;
  readonly #check: HostGuard;
  /** The host that was let in last, over what kind of socket: most requests without a page behind them say the same. Saves 1.5 µs. */
  #lastHost: string | undefined;
  #lastIsLoopback = false;

  /** @throws {HttpOptionError} `ERR_HTTP_OPTION`: an entry that is no host or origin. */
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
   * Checks that a request names a host that is this server, and comes from no web page that is not allowed.
   *
   * @returns The origin of the page that calls, where a page does.
   * @throws {HttpRefusal} 400 for headers that say two things, 403 for a foreign host or origin.
   */
  check(http: HttpExchange): string | undefined {
    const duplicate = http.findDuplicateHeader();
    if (duplicate !== undefined) throw sentTwice(duplicate);
    const host = http.authority;
    if (host === undefined)
      throw new HttpRefusal(400, 'The request must name one host: send one "Host" header that agrees with the request target');
    const origin = http.header('origin');
    // A platform that does not tell is taken for loopback, where the strict rules hold.
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

/** The headers that let a page read the answer. Never with credentials: MCP sends its token in a header of its own. */
export function corsHeaders(guard: Guard, origin: string): HeaderList {
  const expose = ['Access-Control-Expose-Headers', EXPOSED];
  if (guard.allowsAnyOrigin) return ['Access-Control-Allow-Origin', '*', ...expose];
  return ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin', ...expose];
}

/** The further headers that answer a preflight. `Mcp-Param-*` cannot be listed, so those that were asked for are named. */
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
