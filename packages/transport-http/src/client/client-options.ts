/** The options of the HTTP client transports, and the functions that check them. */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable } from '@mortise/jsonrpc-core/transport';
import type { Authorizer } from '@mortise/protocol/contracts';
import { HttpOptionError } from '../errors.ts';
import type { FetchLike, HttpSender } from './http-sender.ts';
import type { GivenHeaders } from './request-headers.ts';

/** The options of every client transport over HTTP. */
export interface HttpClientOptions {
  /**
   * Headers for every request: an object, a `Headers`, a `Map` or pairs. Values for headers that the client sets itself, such as
   * `Content-Type`, are ignored.
   *
   * @default none
   */
  readonly headers?: GivenHeaders | undefined;
  /**
   * More options for every `fetch` call, such as `credentials`. Values for method, body, signal and redirect mode are ignored.
   *
   * @default none
   */
  readonly requestInit?: RequestInit | undefined;
  /** The function that sends requests. Must support `redirect: 'manual'` and `signal`. @default the platform's `fetch` */
  readonly fetch?: FetchLike | undefined;
  /**
   * Sends HTTP requests instead of `fetch`. On Node, `nodeHttpSender()` of `@mortise/transport-http/node` needs a sixth of the CPU time.
   *
   * @default `fetch`
   */
  readonly sender?: HttpSender | undefined;
  /** Adds authorization headers to requests and handles status 401 and 403, at most three times for each request. @default none */
  readonly authorizer?: Authorizer | undefined;
  /** The maximum size of a message from the server, in bytes of a response body or of one server-sent event. @default 16 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** The clock for timeouts and delays. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/** The options of `httpTransport`. */
export interface HttpTransportOptions extends HttpClientOptions {
  /** How the client reconnects legacy event streams that broke. @default ten attempts in a row */
  readonly reconnectionOptions?: ReconnectionOptions | undefined;
  /** Whether `close` leaves a legacy session open on the server, so that another transport can resume it. @default false */
  readonly keepsSession?: boolean | undefined;
}

/** How the client reconnects event streams that broke: it waits up to a second, then twice as long after each failure, up to 30 s. */
export interface ReconnectionOptions {
  /** How many reconnection attempts in a row may fail before the client gives up. @default 10 */
  readonly maxRetries?: number | undefined;
}

/** The options of `StreamableHTTPClientTransport`: those of `httpTransport`, and those that the official SDK has. */
export interface StreamableHTTPClientTransportOptions extends HttpTransportOptions {
  /**
   * The id of a legacy session to resume. The transport then sends no `initialize` and opens the session's GET stream at once.
   *
   * @default none
   */
  readonly sessionId?: string | undefined;
  /** The protocol version of the session named by `sessionId`. @default none */
  readonly protocolVersion?: string | undefined;
}

/** The checks of all client options. One table serves all transports, because programs pass the same options to several transports. */
const TABLE: OptionTable<StreamableHTTPClientTransportOptions> = {
  headers: ['object', 'array'],
  requestInit: 'object',
  fetch: 'function',
  sender: 'function',
  authorizer: { methods: ['headers', 'onChallenge'] },
  maxMessageBytes: 1,
  clock: 'object',
  reconnectionOptions: { maxRetries: 0 },
  keepsSession: 'boolean',
  sessionId: 'string',
  protocolVersion: 'string',
};

/** Checks the options of a client transport. @throws {HttpOptionError} `ERR_HTTP_OPTION`: an option is unknown or has an invalid value. */
export function checkClientOptions(options: StreamableHTTPClientTransportOptions): void {
  checkOptions<StreamableHTTPClientTransportOptions>('options of an HTTP client', options, TABLE, HttpOptionError);
}
