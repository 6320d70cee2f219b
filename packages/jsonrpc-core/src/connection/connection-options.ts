/** What a `Connection` takes. */

import type { OptionTable } from '../check-options.ts';
import type { Clock } from '../instruments.ts';
import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from '../message.ts';
import type { MessageInfo } from '../transport/transport.ts';
import type { InboundCall } from './inbound-call.ts';

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
   * Called with each notification, except a cancellation of a request being served here. Progress of a request sent from here goes to that
   * request's `onProgress` first.
   *
   * @default none
   */
  onNotification?(notification: JsonRpcNotification, info: MessageInfo | undefined): void;
  /** Called with what went wrong without ending the connection: garbage, unknown answers, throwing callbacks, failed sends. @default none */
  onError?(error: Error): void;
  /** Called once when the connection has ended, after everything that was pending has been settled. @default none */
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
   * responses: both are then reported by `onError` and dropped.
   *
   * @default () => true
   */
  isAnswering?(): boolean;
  /**
   * How many requests may be served at once, with those whose answer the peer has not taken yet or that waits for the rest of its batch.
   * Further ones are answered with -32603; with twice as many answers unread the connection is closed.
   *
   * @default 10_000
   */
  readonly maxInFlight?: number | undefined;
  /**
   * How many bytes of text the requests being served here may have together, where the transport measures them (`MessageInfo`). One counts until its
   * handler has ended, also when it is cancelled before; answers that the peer has not taken, or that wait for the rest of their batch, count
   * as well. A request beyond that is answered with -32603 at once, while everything else is still read. A single one is always served.
   *
   * @default 64 MiB
   */
  readonly maxInFlightBytes?: number | undefined;
  /**
   * How long a request waits for its answer, in milliseconds. `Infinity` waits as long as the connection lives.
   *
   * @default 60_000
   */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * How long a request waits whatever progress comes, in milliseconds; one with a longer `timeoutMs` of its own waits for that.
   *
   * @default 600_000, or `requestTimeoutMs` if that is longer
   */
  readonly maxRequestTimeoutMs?: number | undefined;
  /** Times requests and `drain` out. @default systemClock */
  readonly clock?: Clock | undefined;
}

/** Every option and what it must be. */
export const CONNECTION_OPTIONS: OptionTable<ConnectionOptions> = {
  onRequest: 'function',
  onNotification: 'function',
  onError: 'function',
  onClose: 'function',
  isBatchingOn: 'function',
  isErrorIdOptional: 'function',
  isAnswering: 'function',
  maxInFlight: 0,
  maxInFlightBytes: 0,
  requestTimeoutMs: 0,
  maxRequestTimeoutMs: 0,
  clock: 'object',
};
