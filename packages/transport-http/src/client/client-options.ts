/** The options of a client over HTTP, checked where they enter. */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable } from '@mortise/jsonrpc-core/transport';
import type { Authorizer } from '@mortise/protocol/contracts';
import { HttpOptionError } from '../errors.ts';
import type { FetchLike, HttpSender } from './http-sender.ts';
import type { GivenHeaders } from './request-headers.ts';

/** The options of every client transport over HTTP. */
export interface HttpClientOptions {
  /**
   * Sent with every request: by name, or as `Headers`, a `Map` or pairs. Names that this client sets for itself, such as
   * `Content-Type`, have no effect.
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
   * What sends requests instead of `fetch`: on Node `nodeHttpSender()` of `@mortise/transport-http/node` takes a sixth of the CPU.
   *
   * @default `fetch`
   */
  readonly sender?: HttpSender | undefined;
  /** Gives requests their authorization, and is asked what to do about 401 and 403, at most three times a request. @default none */
  readonly authorizer?: Authorizer | undefined;
  /** The longest message, in bytes of a body or of an event. @default 16 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** The clock of timeouts and pauses. @default the platform's */
  readonly clock?: Clock | undefined;
}

/** The options of `httpTransport`. */
export interface HttpTransportOptions extends HttpClientOptions {
  /** How streams of the legacy era that break are opened again. @default ten attempts in a row */
  readonly reconnectionOptions?: ReconnectionOptions | undefined;
  /** Whether `close` leaves a legacy session alive at the server, so that another transport can resume it. @default false */
  readonly keepsSession?: boolean | undefined;
}

/** How streams that break are opened again: after half a second to a second, then twice as long each time up to 30 s. */
export interface ReconnectionOptions {
  /** How many attempts in a row may fail. @default 10 */
  readonly maxRetries?: number | undefined;
}

/** The options of `StreamableHTTPClientTransport`: those of `httpTransport`, and those that MCP's users know. */
export interface StreamableHTTPClientTransportOptions extends HttpTransportOptions {
  /**
   * A legacy session to resume: nothing is initialized, and its stream is opened at once.
   *
   * @default none
   */
  readonly sessionId?: string | undefined;
  /** The revision that was agreed on in that session. @default none */
  readonly protocolVersion?: string | undefined;
}

/** One table for all transports, since programs hand the same options to several. */
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

/** @throws {HttpOptionError} `ERR_HTTP_OPTION`: an invalid option value, or an unknown option. */
export function checkClientOptions(options: StreamableHTTPClientTransportOptions): void {
  checkOptions<StreamableHTTPClientTransportOptions>('options of an HTTP client', options, TABLE, HttpOptionError);
}
