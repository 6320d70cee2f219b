/** What a `Connection` takes and gives: its options, and the two sides of a call. */

import type { Clock, Logger } from '../instruments.ts';
import type { JsonObject, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from '../message.ts';
import type { RequestOptions } from './pending-request.ts';
import type { MessageInfo } from '../transport/transport.ts';

/** What a handler may give back for a request. */
export type RequestOutcome = JsonRpcResponse | undefined | Promise<JsonRpcResponse | undefined>;

/** How a `Connection` behaves. */
export interface ConnectionOptions {
  /**
   * Answers a request. A plain value is answered at once and costs no promise.
   *
   * What it throws is answered as `toWireError` says. `undefined`, an answer with another id, and what JSON cannot carry are
   * answered with -32603. Once the call is cancelled or the connection closed, whatever it gives is dropped.
   *
   * @default every request is answered with -32601
   */
  onRequest?(request: JsonRpcRequest, call: InboundCall): RequestOutcome;
  /**
   * Told each notification, except a cancellation of a request being served here. Progress of a request sent from here is
   * also told to that request's `onProgress`, first.
   *
   * @default none
   */
  onNotification?(notification: JsonRpcNotification, info: MessageInfo | undefined): void;
  /** Told what went wrong without ending the connection: garbage, unknown answers, throwing callbacks, failed sends. @default none */
  onError?(error: Error): void;
  /** Told once that the connection has ended, after everything that was pending has been settled. @default none */
  onClose?(): void;
  /**
   * Whether an array is a batch now (JSON-RPC 2.0 section 6), answered by an array; else it is one invalid request.
   *
   * @default () => false
   */
  isBatchingOn?(): boolean;
  /**
   * Whether an error that answers an unreadable message leaves `id` out now; else it is `null`.
   *
   * @default () => false
   */
  isErrorIdOptional?(): boolean;
  /**
   * Whether requests, and garbage that may have been one (-32700, -32600), may be answered now. A client of the modern era sends no
   * responses: both are then told to `onError` and dropped.
   *
   * @default () => true
   */
  isAnswering?(): boolean;
  /**
   * How many requests may be served at once, those counted whose answer the peer has not taken yet or that waits for the rest of its batch.
   * Further ones are answered with -32603; if the peer goes on without reading, the connection is closed: with twice as many answers unread, or with
   * ids in them of more than 512 characters on the average (and 8 Mi together).
   *
   * @default 10_000
   */
  readonly maxInFlight?: number | undefined;
  /**
   * How many bytes of text the requests being served here may have together, where the transport tells (`MessageInfo`). One counts until its
   * handler has ended, also when it is cancelled before; answers that the peer has not taken, or that wait for the rest of their batch, count
   * as well. A request beyond that is answered with -32603 at once, while everything else is still read. A single one is always served.
   *
   * @default 64 MiB
   */
  readonly maxInFlightBytes?: number | undefined;
  /**
   * How many messages a batch may hold. A longer one is refused as a whole with one -32600.
   *
   * @default 1_000
   */
  readonly maxBatch?: number | undefined;
  /**
   * How long a request waits for its answer, in milliseconds. `Infinity` waits as long as the connection lives.
   *
   * @default 60_000
   */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * How long a request waits however much progress is told, in milliseconds; one with a longer `timeoutMs` of its own waits for that. While time is
   * paused it stands still, for ten times as long in all, ten times 600,000 at the least.
   *
   * @default 600_000, or `requestTimeoutMs` if that is longer
   */
  readonly maxRequestTimeoutMs?: number | undefined;
  /** Times requests and `drain` out. @default systemClock */
  readonly clock?: Clock | undefined;
  /** Told what went wrong where there is no `onError`. @default a logger that drops every line */
  readonly logger?: Logger | undefined;
}

/** One request that is being served. */
export interface InboundCall {
  /** The request itself. */
  readonly message: JsonRpcRequest;
  /** What the transport said about the request. */
  readonly info: MessageInfo | undefined;
  /** Aborts when the peer cancels (with a `CancelledError`) or the connection closes (`ConnectionClosedError`). Made on first use. */
  readonly signal: AbortSignal;
  /** True once the peer has cancelled the call or the connection has closed. */
  readonly isCancelled: boolean;
  /** True once the call is answered or cancelled: no notification that belongs to it is sent any more. */
  readonly isSettled: boolean;
  /** Sends a notification that belongs to this call. Does nothing once the call is settled. */
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Asks the peer something that belongs to this call. Is cancelled together with it. See `Connection.request`. */
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject>;
}
