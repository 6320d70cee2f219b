/** One request that waits for its response: its promise, its time limits, and its options for the transport. */

import { Cancellation } from '../cancellation.ts';
import { RemoteError } from '../errors.ts';
import type {
  JsonObject,
  JsonRpcErrorResponse,
  JsonRpcNotification,
  JsonRpcResponse,
  JsonRpcResultResponse,
  RequestId,
} from '../message.ts';
import type { ExchangeOptions, SendOptions } from '../transport/transport.ts';
import type { RequestTable } from './request-table.ts';

/**
 * The parameters of a request, or a function that makes them. The function gets the progress token, if progress is requested, and must put it into
 * `_meta`. That saves a copy if the parameters are built for each request anyway.
 */
export type RequestParams = JsonObject | ((progressToken: RequestId | undefined) => JsonObject | undefined);

/** The options of one request. */
export interface RequestOptions {
  /** Aborting it cancels the request at the peer; the request then rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
  /** How long the request waits for its response, in milliseconds. @default the connection's `requestTimeoutMs` */
  readonly timeoutMs?: number | undefined;
  /** How long to wait in total, whatever progress arrives, in milliseconds. @default `maxRequestTimeoutMs`, or a longer `timeoutMs` */
  readonly maxTimeoutMs?: number | undefined;
  /**
   * Whether a progress notification restarts `timeoutMs`. If so, and the time is limited, progress is requested even without `onProgress`.
   *
   * @default true
   */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** Called with each progress notification of this request, without the token, until the request has ended. @default none */
  readonly onProgress?: ((progress: JsonObject) => void) | undefined;
  /** The id of the peer's request during which this request is sent. @default none */
  readonly relatedRequestId?: RequestId | undefined;
  /** Makes the request a stream, such as a subscription: called with each notification that `RequestTable.deliver` gets. @default none */
  readonly onNotification?: ((notification: JsonRpcNotification) => void) | undefined;
  /** More HTTP headers, if the request is an exchange and the transport has headers. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Limits the pauses of timeouts: a request ends after ten times its maximum time, or after 100 minutes if that is longer. */
const MAX_PAUSE_FACTOR = 10;
const MIN_PAUSE_BOUND_MS = 600_000;

/**
 * A pending request. It is also passed as the options of its own `send` or `exchange`, so that a request costs one object. Signal and
 * listeners are created only when a transport reads them. Its own members are plain data, because some transports clone options for another
 * thread.
 */
export class PendingRequest<Options extends RequestOptions = RequestOptions> extends Cancellation implements SendOptions, ExchangeOptions {
  readonly id: RequestId;
  readonly method: string;
  readonly relatedRequestId: RequestId | undefined;
  /** Whether progress is requested from the peer. */
  readonly wantsProgress: boolean;
  /** When the request times out; `Infinity` for never. A pause, such as while a user answers, is added to this time when it ends. */
  deadlineMs: number;
  readonly #table: RequestTable<Options>;
  readonly #options: Options | undefined;
  readonly #isRaw: boolean;
  readonly #timeoutMs: number;
  readonly #maxTimeoutMs: number;
  readonly #lastMs: number;
  readonly #outcome: Promise<JsonObject | JsonRpcResponse>;
  #resolve: ((outcome: JsonObject | JsonRpcResponse) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;
  #hardDeadlineMs: number;
  #pauses = 0;
  #pausedAtMs = 0;
  #onAbort: ((reason: unknown) => void) | undefined;

  /** @param isRaw Whether the promise resolves with the whole response, including an error response, instead of the result. */
  constructor(table: RequestTable<Options>, id: RequestId, method: string, options: Options | undefined, isRaw: boolean) {
    super();
    this.id = id;
    this.method = method;
    this.relatedRequestId = options?.relatedRequestId;
    this.#table = table;
    this.#options = options;
    this.#isRaw = isRaw;
    const nowMs = table.clock.monotonicMs();
    this.#timeoutMs = options?.timeoutMs ?? table.timeoutMs;
    this.#maxTimeoutMs = options?.maxTimeoutMs ?? Math.max(options?.timeoutMs ?? 0, table.maxTimeoutMs);
    this.#hardDeadlineMs = nowMs + this.#maxTimeoutMs;
    this.#lastMs = nowMs + MAX_PAUSE_FACTOR * Math.max(this.#maxTimeoutMs, MIN_PAUSE_BOUND_MS);
    this.deadlineMs = Math.min(nowMs + this.#timeoutMs, this.#hardDeadlineMs);
    this.wantsProgress = options?.onProgress !== undefined || (this.#timeoutMs !== Infinity && options?.resetTimeoutOnProgress !== false);
    this.#outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (options?.signal) this.follow(options.signal);
  }

  /** The options with which the request was made. */
  get options(): Options | undefined {
    return this.#options;
  }

  /** The promise returned by `RequestTable.request` or `requestRaw`. */
  get outcome(): Promise<JsonObject | JsonRpcResponse> {
    return this.#outcome;
  }

  // ---- what transports read

  get headers(): Readonly<Record<string, string>> | undefined {
    return this.#options?.headers;
  }

  /** The signal under the name that the official SDK's HTTP transport reads: it then closes the stream of a cancelled request. */
  get requestSignal(): AbortSignal {
    return this.signal;
  }

  get onMessage(): (notification: JsonRpcNotification) => void {
    return (notification) => this.#table.receive(this, notification);
  }

  onAbort(listener: (reason: unknown) => void): void {
    if (this.isCancelled) listener(this.reason);
    else this.#onAbort = listener;
  }

  pauseTimeout(): () => void {
    return this.#table.pauseTimeout(this);
  }

  // ---- the end

  /** Resolves or rejects the request's promise with its response. */
  settle(response: JsonRpcResponse): void {
    // A member that is undefined counts as absent.
    const { error } = response as Partial<JsonRpcErrorResponse>;
    if (this.#isRaw) this.#resolve?.(response);
    else if (error) this.#reject?.(new RemoteError(error, this.method));
    else this.#resolve?.((response as JsonRpcResultResponse).result);
  }

  /** Rejects the request's promise without a response. Does not abort its exchange. */
  fail(error: unknown): void {
    this.#reject?.(error);
  }

  /** Ends the request after a timeout or an abort by the program. Sends a cancellation to the peer. */
  override cancel(reason: unknown): void {
    if (this.#table.withdraw(this, reason)) this.abort(reason);
  }

  /** Rejects the request's promise without a response and aborts its exchange. */
  abort(reason: unknown): void {
    super.cancel(reason);
    this.#onAbort?.(reason);
    this.#reject?.(reason);
  }

  // ---- time

  /** Restarts `timeoutMs` after a progress notification, within `maxTimeoutMs`. */
  restartTime(): void {
    if (this.#options?.resetTimeoutOnProgress === false) return;
    const sinceMs = this.#pauses > 0 ? this.#pausedAtMs : this.#table.clock.monotonicMs();
    this.deadlineMs = Math.min(sinceMs + this.#timeoutMs, this.#hardDeadlineMs);
  }

  /** Pauses `timeoutMs` and `maxTimeoutMs`. Pauses nest. */
  stopTime(): void {
    if (this.#pauses++ === 0) this.#pausedAtMs = this.#table.clock.monotonicMs();
  }

  /** Ends one pause of the time limits. After the last one, both limits move by the duration of the pause. */
  resumeTime(): void {
    if (--this.#pauses > 0) return;
    const lostMs = this.#table.clock.monotonicMs() - this.#pausedAtMs;
    this.#hardDeadlineMs += lostMs;
    this.deadlineMs += lostMs;
  }

  /** The time at which the request times out if nothing more arrives. During a pause, the last limit, which pauses cannot move. */
  get endMs(): number {
    return this.#pauses > 0 ? this.#lastMs : Math.min(this.deadlineMs, this.#lastMs);
  }

  /** Returns which time limit ended the request, in milliseconds. */
  reachedBoundMs(nowMs: number): number {
    return nowMs >= this.#hardDeadlineMs ? this.#maxTimeoutMs : this.#timeoutMs;
  }
}
