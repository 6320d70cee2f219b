/** What a `Connection` takes. */

import type { OptionTable } from '../check-options.ts';
import type { Clock } from '../clock.ts';
import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from '../message.ts';
import type { MessageInfo } from '../transport/transport.ts';
import type { InboundCall } from './inbound-calls.ts';

/** What a handler may give back for a request. */
export type RequestOutcome = JsonRpcResponse | undefined | Promise<JsonRpcResponse | undefined>;

/** What depends on the revision that is spoken. */
export interface ConnectionRules {
  /** Whether an array is a batch (JSON-RPC 2.0 section 6), answered by an array; else it is one invalid request. */
  readonly isBatchingOn: boolean;
  /** Whether an error that answers an unreadable message leaves `id` out; else it is `null`. */
  readonly isErrorIdOptional: boolean;
  /**
   * Whether requests, and garbage that may have been one (-32700, -32600), are answered. A client of the modern era sends no responses: both are
   * then reported by `onError` and dropped.
   */
  readonly isAnswering: boolean;
}

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
  /** Called with errors that do not end the connection: garbage, unknown answers, throwing callbacks, failed sends. @default none */
  onError?(error: Error): void;
  /** Read with each message, so they may change while the connection is open. @default no batches, `null` as id, all is answered */
  readonly rules?: ConnectionRules | undefined;
  /**
   * How many bytes of text the requests being served here may have together, where the transport measures them (`MessageInfo`). A request counts
   * until its handler has ended, also when it is cancelled before; answers that the peer has not taken, or that wait for the rest of their batch,
   * count as well. A request beyond that is answered with -32603 at once, while everything else is still read. A single one is always served.
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
  /** Times requests and `drain`. @default systemClock */
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
  clock: 'object',
};

export const DEFAULT_RULES: ConnectionRules = { isBatchingOn: false, isErrorIdOptional: false, isAnswering: true };
