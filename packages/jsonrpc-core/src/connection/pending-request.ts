/** One request that waits for its answer: who waits, for how long, and what the transport that sends it may ask of it. */

import { Cancellation } from '../cancellation.ts';
import { RemoteError } from '../errors.ts';
import type { JsonObject, JsonRpcErrorResponse, JsonRpcNotification, JsonRpcResponse, RequestId } from '../message.ts';
import type { ExchangeOptions, SendOptions } from '../transport/transport.ts';

/** How one request is sent. */
export interface RequestOptions {
  /** Aborting it cancels the request at the peer and rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
  /** How long the request waits for its answer, in milliseconds. @default the connection's `requestTimeoutMs` */
  readonly timeoutMs?: number | undefined;
  /** The hard bound, whatever progress comes. @default the connection's `maxRequestTimeoutMs`, or `timeoutMs` if that is longer */
  readonly maxTimeoutMs?: number | undefined;
  /**
   * Whether progress starts the time anew. If so, and the time is bounded, the peer is asked for progress even without `onProgress`.
   *
   * @default true
   */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** Called with the parameters of each progress notification of this request, until it is settled. @default none */
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  /** The request being served to which this one belongs. @default none */
  readonly relatedRequestId?: RequestId | undefined;
  /** Whether giving up sends `notifications/cancelled`. `initialize` must not be cancelled. @default true */
  readonly isCancellable?: boolean | undefined;
  /** Called with the request's id before it is sent: whoever correlates by id (a subscription) needs it. @default none */
  readonly onId?: ((id: RequestId) => void) | undefined;
  /** More HTTP headers, where the request is an exchange and the transport has headers. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What bounds a request, in milliseconds; `Infinity` for no bound. */
export interface TimeBounds {
  /** Since it was sent, or since its last progress. */
  readonly timeoutMs: number;
  /** Since it was sent, whatever progress comes. */
  readonly maxTimeoutMs: number;
}

/** What a request is, and who waits for its answer. */
export interface PendingRequestInit<Options extends RequestOptions> {
  readonly id: RequestId;
  readonly method: string;
  readonly options: Options | undefined;
  readonly bounds: TimeBounds;
  /** Whether the response is wanted as it comes, errors included. */
  readonly isRaw: boolean;
  readonly resolve: (outcome: JsonObject | JsonRpcResponse) => void;
  readonly reject: (error: unknown) => void;
}

/** What a pending request needs of its table. */
export interface PendingRequestOwner<Options extends RequestOptions> {
  pauseTimeout(pending: PendingRequest<Options>): () => void;
  receive(pending: PendingRequest<Options>, notification: JsonRpcNotification): void;
}

/** How long a request's time stands still. Most requests never have one. */
interface Pause {
  /** How many pauses overlap now; 0 while the time goes on. */
  count: number;
  sinceMs: number;
  /** How much longer than until `sinceMs` the time may stand still in all. */
  leftMs: number;
}

/**
 * A request that waits. It is also the options of its own `send` or `exchange`, so that a request costs one object; what nobody reads
 * (the signal, listeners) is not made. All times are by `Clock.monotonicMs`.
 */
export class PendingRequest<Options extends RequestOptions = RequestOptions> extends Cancellation implements SendOptions, ExchangeOptions {
  /** When the request has waited long enough; `Infinity` for never. While its time stands still: when it would have without that. */
  deadlineMs: number = Infinity;
  /** A member of its own, as some transports clone their options for another thread. */
  readonly relatedRequestId: RequestId | undefined;
  readonly #owner: PendingRequestOwner<Options>;
  readonly #init: PendingRequestInit<Options>;
  #hardDeadlineMs = Infinity;
  #paused: Pause | undefined;
  #onAbort: ((reason: unknown) => void) | undefined;

  constructor(owner: PendingRequestOwner<Options>, init: PendingRequestInit<Options>) {
    super();
    this.#owner = owner;
    this.#init = init;
    this.relatedRequestId = init.options?.relatedRequestId;
  }

  get id(): RequestId {
    return this.#init.id;
  }

  get method(): string {
    return this.#init.method;
  }

  /** What the caller gave. */
  get options(): Options | undefined {
    return this.#init.options;
  }

  // ---- what transports read

  get headers(): Readonly<Record<string, string>> | undefined {
    return this.options?.headers;
  }

  get onMessage(): (notification: JsonRpcNotification) => void {
    return (notification) => this.#owner.receive(this, notification);
  }

  onAbort(listener: (reason: unknown) => void): void {
    if (this.isCancelled) listener(this.reason);
    else this.#onAbort = listener;
  }

  pauseTimeout(): () => void {
    return this.#owner.pauseTimeout(this);
  }

  // ---- the end

  /** Settles it by the response that came. */
  settle(response: JsonRpcResponse): void {
    const { isRaw, resolve, reject, method } = this.#init;
    if (isRaw) resolve(response);
    else if (isErrorResponse(response)) reject(new RemoteError(response.error, method));
    else resolve(response.result);
  }

  /** Settles it without a response. An exchange is not aborted. */
  fail(error: unknown): void {
    this.#init.reject(error);
  }

  /** Settles it without a response, and an exchange ends. */
  override cancel(reason: unknown): void {
    super.cancel(reason);
    this.#onAbort?.(reason);
    this.#init.reject(reason);
  }

  // ---- time

  /** Whether progress is wanted at all. */
  get wantsProgress(): boolean {
    return this.options?.onProgress !== undefined || (this.#init.bounds.timeoutMs !== Infinity && this.#restartsOnProgress);
  }

  /** The time begins. */
  startTime(nowMs: number): void {
    const { timeoutMs, maxTimeoutMs } = this.#init.bounds;
    this.#hardDeadlineMs = nowMs + maxTimeoutMs;
    this.deadlineMs = Math.min(nowMs + timeoutMs, this.#hardDeadlineMs);
  }

  /** Progress came: `timeoutMs` begins anew, within the hard bound. */
  restartTime(nowMs: number): void {
    if (!this.#restartsOnProgress) return;
    const pause = this.#pause;
    const sinceMs = pause ? Math.max(pause.sinceMs, nowMs - pause.leftMs) : nowMs;
    this.deadlineMs = Math.min(sinceMs + this.#init.bounds.timeoutMs, this.#hardDeadlineMs);
  }

  /**
   * Lets the time stand still, the hard bound's too.
   *
   * @param mostMs How long it may stand still in all, over every pause of the request; then it goes on by itself.
   */
  stopTime(nowMs: number, mostMs: number): void {
    const pause = (this.#paused ??= { count: 0, sinceMs: nowMs, leftMs: mostMs });
    if (pause.count === 0) pause.sinceMs = nowMs;
    pause.count += 1;
  }

  /** Ends one pause. The last one lets the time go on: the request gets exactly what it lost. */
  resumeTime(nowMs: number): void {
    const pause = this.#pause;
    if (!pause) return;
    pause.count -= 1;
    if (pause.count > 0) return;
    const lostMs = Math.min(nowMs - pause.sinceMs, pause.leftMs);
    pause.leftMs -= lostMs;
    this.#hardDeadlineMs += lostMs;
    this.deadlineMs += lostMs;
  }

  /** When the request ends if nothing more comes, even if the pauses of now should never end. */
  get endMs(): number {
    return this.deadlineMs + (this.#pause?.leftMs ?? 0);
  }

  /** Which of the two bounds ended the request. */
  reachedBoundMs(nowMs: number): number {
    const { timeoutMs, maxTimeoutMs } = this.#init.bounds;
    return nowMs - (this.#pause?.leftMs ?? 0) >= this.#hardDeadlineMs ? maxTimeoutMs : timeoutMs;
  }

  get #restartsOnProgress(): boolean {
    return this.options?.resetTimeoutOnProgress !== false;
  }

  /** The pause of now; undefined while the time goes on. */
  get #pause(): Pause | undefined {
    return this.#paused && this.#paused.count > 0 ? this.#paused : undefined;
  }
}

function isErrorResponse(response: JsonRpcResponse): response is JsonRpcErrorResponse {
  return (response as Partial<JsonRpcErrorResponse>).error !== undefined;
}
