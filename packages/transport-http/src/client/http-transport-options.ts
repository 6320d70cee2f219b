/** What a program may say about how its client speaks HTTP, and what holds where it does not. */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptionRules, type OptionRules, systemClock } from '@mortise/jsonrpc-core/transport';
import type { Authorizer } from '@mortise/protocol/contracts';
import { HttpOptionError } from '../errors.ts';
import { createFetchSender, type FetchLike } from './fetch-sender.ts';
import type { HttpSender } from './http-sender.ts';
import type { ReconnectionOptions } from './legacy/reconnect-pace.ts';
import type { StreamableHTTPClientTransportOptions } from './streamable-http-client-transport.ts';
import { type GivenHeaders, toLowerCaseNames, Wire } from './wire.ts';

/** The options of every transport over HTTP. Each may be left out. */
export interface HttpClientOptions {
  /**
   * Sent with every request, beside what the protocol needs: by name, or as `Headers`, a `Map` or pairs. Names that the protocol needs
   * have no effect.
   *
   * @default none
   */
  readonly headers?: GivenHeaders | undefined;
  /**
   * More for every `fetch`, such as `credentials`, and `headers`. Its method, body, signal and redirect mode have no effect.
   *
   * @default none
   */
  readonly requestInit?: RequestInit | undefined;
  /** What is called to send requests. Must honour `redirect: 'manual'` and `signal`. @default the platform's `fetch` */
  readonly fetch?: FetchLike | undefined;
  /**
   * What sends requests instead of `fetch`: on Node `nodeHttp()` of `@mortise/transport-http/node` takes a sixth of the CPU.
   *
   * @default `fetch`
   */
  readonly sender?: HttpSender | undefined;
  /** Gives requests their authorization, and is asked what to do about 401 and 403, at most three times a request. @default none */
  readonly authorizer?: Authorizer | undefined;
  /** The longest message, in bytes of a body or of an event. @default 16 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** How much of the body of an error is read. @default 64 KiB */
  readonly maxErrorBytes?: number | undefined;
  /** How long a server may take to accept what it need not answer, in milliseconds. Legacy era. @default 30_000 */
  readonly acceptTimeoutMs?: number | undefined;
  /** How long a server of HTTP+SSE may take to name its endpoint, in milliseconds. @default 10_000 */
  readonly endpointTimeoutMs?: number | undefined;
  /** What tells the time. @default systemClock */
  readonly clock?: Clock | undefined;
  /** Numbers from 0 to below 1, for waits that differ. @default Math.random */
  readonly random?: (() => number) | undefined;
}

/** The options of `httpTransport`. */
export interface HttpTransportOptions extends HttpClientOptions {
  /** Whether a legacy session has a stream for what belongs to no request, where the server gives one. @default true */
  readonly getStream?: boolean | undefined;
  /** How streams of the legacy era that break are opened again. @default as each of its members says */
  readonly reconnection?: ReconnectionOptions | undefined;
  /**
   * Whether a server that refuses `initialize` with 400, 404 or 405 is tried as one of HTTP+SSE. @default true
   *
   * @deprecated since 2025-03-26, with HTTP+SSE: use Streamable HTTP.
   */
  readonly sseFallback?: boolean | undefined;
  /** Whether `close` leaves a legacy session alive at the server, for whoever goes on with it. @default false */
  readonly keepsSession?: boolean | undefined;
  /** How long `close` waits until the server has ended a session, in milliseconds. @default 1_000 */
  readonly closeTimeoutMs?: number | undefined;
}

/** All that there are of any transport, as programs hand the same ones to several. */
const RULES: OptionRules<StreamableHTTPClientTransportOptions> = {
  headers: 'no number',
  requestInit: 'no number',
  fetch: 'no number',
  sender: 'no number',
  authorizer: 'no number',
  maxMessageBytes: 1,
  maxErrorBytes: 1,
  acceptTimeoutMs: 1,
  endpointTimeoutMs: 1,
  clock: 'no number',
  random: 'no number',
  getStream: 'no number',
  reconnection: 'no number',
  sseFallback: 'no number',
  keepsSession: 'no number',
  closeTimeoutMs: 1,
  sessionId: 'no number',
  protocolVersion: 'no number',
  reconnectionOptions: 'no number',
};

const PACE: OptionRules<ReconnectionOptions> = { initialDelayMs: 0, maxDelayMs: 0, growFactor: 0, maxRetries: 0 };

/** @throws {HttpOptionError} `ERR_HTTP_OPTION`: a URL or an option that cannot hold, or an option that there is not. */
export function toWire(url: string | URL, options: HttpTransportOptions): Wire {
  checkOptionRules('a client over HTTP', options, RULES, HttpOptionError);
  checkOptionRules('the option "reconnection"', options.reconnection ?? {}, PACE, HttpOptionError);
  const { fetch, requestInit, headers, sender, authorizer, clock = systemClock } = options;
  const given = requestInit?.headers === undefined ? {} : Object.fromEntries(new Headers(requestInit.headers));
  return new Wire(url, {
    sender: sender ?? createFetchSender(fetch, withoutOwn(requestInit)),
    authorizer,
    headers: { ...given, ...checkHeaders(toLowerCaseNames(headers ?? {})) },
    clock,
  });
}

/** A variable of the environment that is not set, perhaps: it would be sent as the text "undefined". */
function checkHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string')
      throw new HttpOptionError(`The header "${name}" in the option "headers" must be a text, got ${typeof value}`);
  }
  return headers as Record<string, string>;
}

/** The bounds of what is read. */
export function toBounds({ maxMessageBytes, maxErrorBytes }: HttpClientOptions): {
  readonly maxMessageBytes: number;
  readonly maxErrorBytes: number;
} {
  return { maxMessageBytes: maxMessageBytes ?? 16 * 1024 * 1024, maxErrorBytes: maxErrorBytes ?? 64 * 1024 };
}

/** A signal for all requests would end them all at once and gather their listeners: closing the transport is for that. */
function withoutOwn(init: RequestInit = {}): RequestInit {
  const { headers: _headers, signal: _signal, body: _body, method: _method, ...rest } = init;
  return rest;
}
