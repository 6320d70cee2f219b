/** One request that waits for its answer: who waits, for how long, and what a transport may ask of it. */

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
 * The parameters of a request, or a function that makes them. It is given the request's progress token, if the peer is asked for progress, and puts it
 * into `_meta`. Saves a copy where the parameters are made for each request anyway.
 */
export type RequestParams = JsonObject | ((progressToken: RequestId | undefined) => JsonObject | undefined);

/** How one request is sent. */
export interface RequestOptions {
  /** Aborting it cancels the request at the peer and rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
  /** How long the request waits for its answer, in milliseconds. @default the connection's `requestTimeoutMs` */
  readonly timeoutMs?: number | undefined;
  /** The hard bound, whatever progress comes. @default the connection's `maxRequestTimeoutMs`, or `timeoutMs` if that is longer */
  readonly maxTimeoutMs?: number | undefined;
  /**
   * Whether progress restarts `timeoutMs`. If so, and the time is bounded, the peer is asked for progress even without `onProgress`.
   *
   * @default true
   */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** Called with the parameters of each progress notification of this request, until it is settled. @default none */
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  /** The request being served to which this one belongs. @default none */
  readonly relatedRequestId?: RequestId | undefined;
  /** Makes the request a stream, such as a subscription: called with what `RequestTable.deliver` gets for it. @default none */
  readonly onNotification?: ((notification: JsonRpcNotification) => void) | undefined;
  /** More HTTP headers, where the request is an exchange and the transport has headers. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** However long it is paused, a request ends after ten times its hard bound, or after ten times ten minutes if that is longer. */
const MAX_PAUSE_FACTOR = 10;
const MIN_PAUSE_BOUND_MS = 600_000;

/**
 * A request that waits. It is also the options of its own `send` or `exchange`, so that a request costs one object, and what no transport
 * reads (the signal, listeners) is not made. Its own members are plain data, as some transports clone their options for another thread.
 */
export class PendingRequest<Options extends RequestOptions = RequestOptions> extends Cancellation implements SendOptions, ExchangeOptions {
  readonly id: RequestId;
  readonly method: string;
  readonly relatedRequestId: RequestId | undefined;
  /** Whether the peer is asked for progress. */
  readonly wantsProgress: boolean;
  /** When the request has waited long enough, not counting the current pause; `Infinity` for never. */
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

  /** @param isRaw Whether the response is wanted as it comes, errors included. */
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

  /** What the caller gave. */
  get options(): Options | undefined {
    return this.#options;
  }

  /** What the caller waits for. */
  get outcome(): Promise<JsonObject | JsonRpcResponse> {
    return this.#outcome;
  }

  // ---- what transports read

  get headers(): Readonly<Record<string, string>> | undefined {
    return this.#options?.headers;
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

  /** Settles it with the response that came. */
  settle(response: JsonRpcResponse): void {
    // A member that is undefined counts as absent.
    const { error } = response as Partial<JsonRpcErrorResponse>;
    if (this.#isRaw) this.#resolve?.(response);
    else if (error) this.#reject?.(new RemoteError(error, this.method));
    else this.#resolve?.((response as JsonRpcResultResponse).result);
  }

  /** Settles it without a response. An exchange is not aborted. */
  fail(error: unknown): void {
    this.#reject?.(error);
  }

  /** Gives the request up: by its time, or by the caller's signal. Sends a cancellation. */
  override cancel(reason: unknown): void {
    if (this.#table.withdraw(this, reason)) this.abort(reason);
  }

  /** Settles it without a response, and an exchange ends. */
  abort(reason: unknown): void {
    super.cancel(reason);
    this.#onAbort?.(reason);
    this.#reject?.(reason);
  }

  // ---- time

  /** Progress came: `timeoutMs` starts again, within the hard bound. */
  restartTime(): void {
    if (this.#options?.resetTimeoutOnProgress === false) return;
    const sinceMs = this.#pauses > 0 ? this.#pausedAtMs : this.#table.clock.monotonicMs();
    this.deadlineMs = Math.min(sinceMs + this.#timeoutMs, this.#hardDeadlineMs);
  }

  /** Stops the clock of both bounds. Pauses nest. */
  stopTime(): void {
    if (this.#pauses++ === 0) this.#pausedAtMs = this.#table.clock.monotonicMs();
  }

  /** Ends one pause. The last one moves both bounds by the time that the pause took. */
  resumeTime(): void {
    if (--this.#pauses > 0) return;
    const lostMs = this.#table.clock.monotonicMs() - this.#pausedAtMs;
    this.#hardDeadlineMs += lostMs;
    this.deadlineMs += lostMs;
  }

  /** When the request ends if nothing more comes, even if a pause never ends. */
  get endMs(): number {
    return this.#pauses > 0 ? this.#lastMs : Math.min(this.deadlineMs, this.#lastMs);
  }

  /** Which of the two bounds ended the request. */
  reachedBoundMs(nowMs: number): number {
    return nowMs >= this.#hardDeadlineMs ? this.#maxTimeoutMs : this.#timeoutMs;
  }
}
