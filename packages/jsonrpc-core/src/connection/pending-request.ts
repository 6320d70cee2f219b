/** One request that waits for its answer: who waits, for how long, and what the transport that sends it may ask of it. */

import { Cancellation } from '../cancellation.ts';
import { RemoteError } from '../errors.ts';
import type { Clock } from '../instruments.ts';
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

/** What a pending request needs of its table. */
export interface PendingRequestOwner<Options extends RequestOptions> {
  readonly clock: Clock;
  /** How long a request waits, since it was sent or since its last progress; `Infinity` for no bound. */
  readonly timeoutMs: number;
  /** How long a request waits whatever progress comes; `Infinity` for no bound. */
  readonly maxTimeoutMs: number;
  pauseTimeout(pending: PendingRequest<Options>): () => void;
  receive(pending: PendingRequest<Options>, notification: JsonRpcNotification): void;
}

/** A request's time may stand still for so many times the hard bound in all: a peer that asks again and again must not hold it for ever. */
const MOST_PAUSED_TIMES = 10;
const LEAST_HARD_BOUND_MS = 600_000;

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
 * (the signal, listeners) is not made. Its own members are plain data, as some transports clone their options for another thread.
 */
export class PendingRequest<Options extends RequestOptions = RequestOptions> extends Cancellation implements SendOptions, ExchangeOptions {
  readonly id: RequestId;
  readonly method: string;
  readonly relatedRequestId: RequestId | undefined;
  /** When the request has waited long enough; `Infinity` for never. While its time stands still: when it would have without that. */
  deadlineMs: number;
  readonly #owner: PendingRequestOwner<Options>;
  readonly #options: Options | undefined;
  readonly #isRaw: boolean;
  readonly #timeoutMs: number;
  readonly #maxTimeoutMs: number;
  readonly #outcome: Promise<JsonObject | JsonRpcResponse>;
  #resolve: ((outcome: JsonObject | JsonRpcResponse) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;
  #hardDeadlineMs: number;
  #paused: Pause | undefined;
  #onAbort: ((reason: unknown) => void) | undefined;

  /** @param isRaw Whether the response is wanted as it comes, errors included. */
  constructor(owner: PendingRequestOwner<Options>, id: RequestId, method: string, options: Options | undefined, isRaw: boolean) {
    super();
    this.id = id;
    this.method = method;
    this.relatedRequestId = options?.relatedRequestId;
    this.#owner = owner;
    this.#options = options;
    this.#isRaw = isRaw;
    this.#timeoutMs = options?.timeoutMs ?? owner.timeoutMs;
    this.#maxTimeoutMs = options?.maxTimeoutMs ?? Math.max(options?.timeoutMs ?? 0, owner.maxTimeoutMs);
    const nowMs = owner.clock.monotonicMs();
    this.#hardDeadlineMs = nowMs + this.#maxTimeoutMs;
    this.deadlineMs = Math.min(nowMs + this.#timeoutMs, this.#hardDeadlineMs);
    this.#outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
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
    if (this.#isRaw) this.#resolve?.(response);
    else if (isErrorResponse(response)) this.#reject?.(new RemoteError(response.error, this.method));
    else this.#resolve?.(response.result);
  }

  /** Settles it without a response. An exchange is not aborted. */
  fail(error: unknown): void {
    this.#reject?.(error);
  }

  /** Settles it without a response, and an exchange ends. */
  override cancel(reason: unknown): void {
    super.cancel(reason);
    this.#onAbort?.(reason);
    this.#reject?.(reason);
  }

  // ---- time

  /** Whether progress is wanted at all. */
  get wantsProgress(): boolean {
    return this.#options?.onProgress !== undefined || (this.#timeoutMs !== Infinity && this.#options?.resetTimeoutOnProgress !== false);
  }

  /** Progress came: `timeoutMs` begins anew, within the hard bound. */
  restartTime(): void {
    if (this.#options?.resetTimeoutOnProgress === false) return;
    const nowMs = this.#owner.clock.monotonicMs();
    const pause = this.#pause;
    const sinceMs = pause ? Math.max(pause.sinceMs, nowMs - pause.leftMs) : nowMs;
    this.deadlineMs = Math.min(sinceMs + this.#timeoutMs, this.#hardDeadlineMs);
  }

  /** Lets the time stand still, the hard bound's too. Over all pauses of the request that is bounded; then it goes on by itself. */
  stopTime(): void {
    const sinceMs = this.#owner.clock.monotonicMs();
    const leftMs = MOST_PAUSED_TIMES * Math.max(this.#owner.maxTimeoutMs, LEAST_HARD_BOUND_MS);
    const pause = (this.#paused ??= { count: 0, sinceMs, leftMs });
    if (pause.count === 0) pause.sinceMs = sinceMs;
    pause.count += 1;
  }

  /** Ends one pause. The last one lets the time go on: the request gets exactly what it lost. */
  resumeTime(): void {
    const pause = this.#pause;
    if (!pause) return;
    pause.count -= 1;
    if (pause.count > 0) return;
    const lostMs = Math.min(this.#owner.clock.monotonicMs() - pause.sinceMs, pause.leftMs);
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
    return nowMs - (this.#pause?.leftMs ?? 0) >= this.#hardDeadlineMs ? this.#maxTimeoutMs : this.#timeoutMs;
  }

  /** The pause of now; undefined while the time goes on. */
  get #pause(): Pause | undefined {
    return this.#paused && this.#paused.count > 0 ? this.#paused : undefined;
  }
}

function isErrorResponse(response: JsonRpcResponse): response is JsonRpcErrorResponse {
  return (response as Partial<JsonRpcErrorResponse>).error !== undefined;
}
