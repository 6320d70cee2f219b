/** The options of a client over HTTP, and what holds where they are left out. */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable, systemClock } from '@mortise/jsonrpc-core/transport';
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
  /** What tells the time. @default systemClock */
  readonly clock?: Clock | undefined;
  /** Numbers from 0 to below 1, for waits that differ. @default Math.random */
  readonly random?: (() => number) | undefined;
}

/** The options of `httpTransport`. */
export interface HttpTransportOptions extends HttpClientOptions {
  /** Whether a legacy session has a stream for what belongs to no request, where the server gives one. @default true */
  readonly getStream?: boolean | undefined;
  /** How streams of the legacy era that break are opened again; delays are in milliseconds. @default as each of its members says */
  readonly reconnectionOptions?: ReconnectionOptions | undefined;
  /**
   * Whether a server that refuses `initialize` with 400, 404 or 405 is tried as one of HTTP+SSE. @default true
   *
   * @deprecated since 2025-03-26, with HTTP+SSE: use Streamable HTTP.
   */
  readonly sseFallback?: boolean | undefined;
  /** Whether `close` leaves a legacy session alive at the server, for whoever goes on with it. @default false */
  readonly keepsSession?: boolean | undefined;
}

/** All that there are of any transport, as programs hand the same ones to several. */
const TABLE: OptionTable<StreamableHTTPClientTransportOptions> = {
  headers: ['object', 'array'],
  requestInit: 'object',
  fetch: 'function',
  sender: 'function',
  authorizer: 'object',
  maxMessageBytes: 1,
  clock: 'object',
  random: 'function',
  getStream: 'boolean',
  reconnectionOptions: { initialReconnectionDelay: 0, maxReconnectionDelay: 0, reconnectionDelayGrowFactor: 0, maxRetries: 0 },
  sseFallback: 'boolean',
  keepsSession: 'boolean',
  sessionId: 'string',
  protocolVersion: 'string',
};

/** @throws {HttpOptionError} `ERR_HTTP_OPTION`: a URL or an option that cannot hold, or an option that there is not. */
export function toWire(url: string | URL, options: HttpTransportOptions): Wire {
  checkOptions<StreamableHTTPClientTransportOptions>('options of an HTTP client', options, TABLE, HttpOptionError);
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

/** The options with everything that has a default filled in. */
export interface ClientSettings {
  readonly clock: Clock;
  readonly random: () => number;
  readonly maxMessageBytes: number;
  readonly reconnectionOptions: ReconnectionOptions;
  readonly getStream: boolean;
  readonly keepsSession: boolean;
  readonly sseFallback: boolean;
}

export function toSettings(options: HttpTransportOptions): ClientSettings {
  return {
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    maxMessageBytes: options.maxMessageBytes ?? 16 * 1024 * 1024,
    reconnectionOptions: options.reconnectionOptions ?? {},
    getStream: options.getStream !== false,
    keepsSession: options.keepsSession === true,
    sseFallback: options.sseFallback !== false,
  };
}

/** A signal for all requests would end them all at once and gather their listeners: closing the transport is for that. */
function withoutOwn(init: RequestInit = {}): RequestInit {
  const { headers: _headers, signal: _signal, body: _body, method: _method, ...rest } = init;
  return rest;
}
