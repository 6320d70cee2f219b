/** The options of the HTTP client transports, and their checks. */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable } from '@mortise/jsonrpc-core/transport';
import type { Authorizer } from '@mortise/protocol/contracts';
import { HttpOptionError } from '../errors.ts';
import type { FetchLike, HttpSender } from './http-sender.ts';
import type { GivenHeaders } from './request-headers.ts';

/** The options of every client transport over HTTP. */
export interface HttpClientOptions {
  /**
   * Headers for every request: an object, a `Headers`, a `Map` or pairs. Headers that the client sets itself, such as `Content-Type`, have no
   * effect.
   *
   * @default none
   */
  readonly headers?: GivenHeaders | undefined;
  /**
   * More options for every `fetch`, such as `credentials`. Its method, body, signal and redirect mode have no effect.
   *
   * @default none
   */
  readonly requestInit?: RequestInit | undefined;
  /** The function that sends requests. Must support `redirect: 'manual'` and `signal`. @default the platform's `fetch` */
  readonly fetch?: FetchLike | undefined;
  /**
   * Sends requests instead of `fetch`. On Node, `nodeHttpSender()` of `@mortise/transport-http/node` takes a sixth of the CPU time.
   *
   * @default `fetch`
   */
  readonly sender?: HttpSender | undefined;
  /** Sets the authorization of requests and handles status 401 and 403, at most three times for each request. @default none */
  readonly authorizer?: Authorizer | undefined;
  /** The maximum size of a message, in bytes of a body or an event. @default 16 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** The clock for timeouts and delays. @default the platform's */
  readonly clock?: Clock | undefined;
}

/** The options of `httpTransport`. */
export interface HttpTransportOptions extends HttpClientOptions {
  /** How the client opens broken legacy streams again. @default ten attempts in a row */
  readonly reconnectionOptions?: ReconnectionOptions | undefined;
  /** Whether `close` keeps a legacy session at the server, so that another transport can resume it. @default false */
  readonly keepsSession?: boolean | undefined;
}

/** How the client opens broken streams again: after half a second to a second, then with doubled delays up to 30 s. */
export interface ReconnectionOptions {
  /** The maximum number of failed attempts in a row. @default 10 */
  readonly maxRetries?: number | undefined;
}

/** The options of `StreamableHTTPClientTransport`: those of `httpTransport`, and those of the official SDK. */
export interface StreamableHTTPClientTransportOptions extends HttpTransportOptions {
  /**
   * The id of a legacy session to resume. The transport sends no `initialize` and opens the session's stream at once.
   *
   * @default none
   */
  readonly sessionId?: string | undefined;
  /** The protocol version of that session. @default none */
  readonly protocolVersion?: string | undefined;
}

/** One table for all transports, because programs pass the same options to several. */
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

/** @throws {HttpOptionError} `ERR_HTTP_OPTION`: an option is unknown or has an invalid value. */
export function checkClientOptions(options: StreamableHTTPClientTransportOptions): void {
  checkOptions<StreamableHTTPClientTransportOptions>('options of an HTTP client', options, TABLE, HttpOptionError);
}
