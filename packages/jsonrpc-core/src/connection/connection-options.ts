/** The options of a `Connection`. */

import type { OptionTable } from '../check-options.ts';
import type { Clock } from '../clock.ts';
import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, RequestId } from '../message.ts';
import type { MessageInfo } from '../transport/transport.ts';
import type { InboundCall } from './inbound-calls.ts';

/** What `onRequest` may return: the response, or a promise of it. `undefined` is sent as error -32603. */
export type RequestOutcome = JsonRpcResponse | undefined | Promise<JsonRpcResponse | undefined>;

/** The rules of a connection that depend on the MCP revision in use. */
export interface ConnectionRules {
  /** Whether a JSON array is a batch (JSON-RPC 2.0 section 6), to which one array of responses is sent. If false, an array is invalid. */
  readonly isBatchingOn: boolean;
  /** Whether the error response to an unreadable message leaves out `id`. If false, the response has `id: null`. */
  readonly isErrorIdOptional: boolean;
  /**
   * Whether to respond to requests, and to unreadable messages that may have been requests (-32700, -32600). If false, both are reported by `onError`
   * and dropped, because a client of the modern era sends no responses.
   */
  readonly isAnswering: boolean;
}

/** The options of a `Connection`. */
export interface ConnectionOptions {
  /**
   * Called with each request from the peer; returns the response. A plain return value is sent at once and costs no promise.
   *
   * An error that it throws is sent as `toWireError` converts it. -32603 is sent for `undefined`, for a response with another id, and for a response
   * that JSON cannot represent. Once the call is cancelled or the connection is closed, the response is dropped.
   *
   * @default every request gets -32601
   */
  onRequest?(request: JsonRpcRequest, call: InboundCall): RequestOutcome;
  /**
   * Called with each notification from the peer, except a cancellation of a request that is being served. A progress notification goes to
   * the `onProgress` of its request first.
   *
   * @default none
   */
  onNotification?(notification: JsonRpcNotification, info: MessageInfo | undefined): void;
  /**
   * Called with errors that do not end the connection: unreadable messages, responses with unknown ids, callbacks that throw, failed sends. @default
   * none
   */
  onError?(error: Error): void;
  /** The rules of the MCP revision, read for each message, so they may change. @default no batches, `null` as id, responses are sent */
  readonly rules?: ConnectionRules | undefined;
  /**
   * The most bytes that requests in progress may have together, if the transport measures them (`MessageInfo`). A request beyond that gets -32603;
   * other messages are still read. A single request is always served.
   *
   * A request counts until its handler has ended, even if it was cancelled before. Responses count until the peer has read them, and while
   * they wait for the rest of their batch. Apart from that, at most 10,000 requests are served at once; further ones get -32603 too.
   *
   * @default 64 MiB
   */
  readonly maxInFlightBytes?: number | undefined;
  /**
   * How long a request waits for its response, in milliseconds. `Infinity` means until the connection closes.
   *
   * @default 60_000
   */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * The longest that a request waits even if progress arrives, in milliseconds. A longer `timeoutMs` of the request itself takes precedence.
   *
   * @default 600_000, or `requestTimeoutMs` if that is longer
   */
  readonly maxRequestTimeoutMs?: number | undefined;
  /** Makes the id of each request sent. An id must not repeat while the connection lasts. @default 1, 2, 3 and so on */
  readonly newId?: (() => RequestId) | undefined;
  /** The clock for the timeouts of requests and of `drain`. @default systemClock */
  readonly clock?: Clock | undefined;
}

export const CONNECTION_OPTIONS: OptionTable<ConnectionOptions> = {
  onRequest: 'function',
  onNotification: 'function',
  onError: 'function',
  rules: 'object',
  maxInFlightBytes: 0,
  requestTimeoutMs: 0,
  maxRequestTimeoutMs: 0,
  newId: 'function',
  clock: 'object',
};

export const DEFAULT_RULES: ConnectionRules = { isBatchingOn: false, isErrorIdOptional: false, isAnswering: true };
