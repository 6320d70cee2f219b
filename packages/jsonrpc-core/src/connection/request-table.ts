/** The requests sent from here that wait for their answer: settles each exactly once, in time or not. */

import { copyObject, isJsonObject } from '../guards.ts';
import { InvalidResponseError, TimeoutError } from '../errors.ts';
import { type Clock, systemClock } from '../instruments.ts';
import type { JsonObject, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, RequestId } from '../message.ts';
import { resolvedPromise } from '../transport/transport.ts';
import { toError } from '../transport/hold-transport.ts';
import { DeadlineTimer } from './deadline-timer.ts';
import { IdMap } from './id-map.ts';
import { PendingRequest, type RequestOptions } from './pending-request.ts';

/** How a table sends requests, and how long they wait. */
export interface RequestTableOptions<Options extends RequestOptions = RequestOptions> {
  /**
   * Sends one request. On a channel it resolves once the message is handed over, and the response comes by `settle`; an exchange resolves to
   * the response itself. Where it throws or rejects, the request fails with that.
   *
   * @param pending May be given to a transport as the options of `send` or `exchange`; `pending.options` is what the caller gave.
   */
  send(request: JsonRpcRequest, pending: PendingRequest<Options>): void | Promise<JsonRpcResponse | void>;
  /**
   * Tells the peer that nobody waits for a request any more. Must not throw.
   *
   * @default nothing is sent, as the end of an exchange says it
   */
  sendCancelled?(params: { readonly requestId: RequestId; readonly reason?: string }, pending: PendingRequest<Options>): void;
  /** Called with each notification that a transport gives to a request's own `onMessage`, progress included. @default none */
  onMessage?(notification: JsonRpcNotification, pending: PendingRequest<Options>): void;
  /** Called when the last request that waited has been settled. @default none */
  onEmpty?(): void;
  /** Called with what a caller's `onProgress` threw. Must not throw. @default none */
  onError?(error: Error): void;
  /** Makes an id that no other request of the same peer has. @default integers that count up */
  readonly newId?: (() => RequestId) | undefined;
  /** How long a request waits that says nothing else. @default 60_000 */
  readonly timeoutMs?: number | undefined;
  /** How long a request waits whatever progress comes, unless it has a longer time of its own. @default 600_000, or `timeoutMs` if longer */
  readonly maxTimeoutMs?: number | undefined;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_TIMEOUT_MS = 600_000;

/**
 * Every request that waits on one connection, in one session, or with one client of exchanges.
 *
 * One table for each: answers are found by id, and ids are unique within a table only.
 *
 * @see all revisions: basic/utilities/cancellation, basic/utilities/progress, basic/lifecycle (timeouts)
 */
export class RequestTable<Options extends RequestOptions = RequestOptions> {
  /** Times the requests. */
  readonly clock: Clock;
  /** How long a request waits that says nothing else. */
  readonly timeoutMs: number;
  /** How long a request waits whatever progress comes. */
  readonly maxTimeoutMs: number;
  readonly #options: RequestTableOptions<Options>;
  readonly #pending = new IdMap<RequestId, PendingRequest<Options>>();
  readonly #timer: DeadlineTimer;
  readonly #newId: () => RequestId;
  /** The requests under each signal. Many may share one, and platforms warn of more than ten listeners. */
  readonly #bySignal = new Map<AbortSignal, Set<PendingRequest<Options>>>();
  #lastId = 0;
  #pauses = 0;

  constructor(options: RequestTableOptions<Options>) {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, maxTimeoutMs = Math.max(timeoutMs, DEFAULT_MAX_TIMEOUT_MS) } = options;
    this.#options = options;
    this.clock = options.clock ?? systemClock;
    this.timeoutMs = timeoutMs;
    this.maxTimeoutMs = maxTimeoutMs;
    this.#timer = new DeadlineTimer(this.clock, (nowMs) => this.#expire(nowMs));
    this.#newId = options.newId ?? (() => ++this.#lastId);
  }

  /** How many requests wait. */
  get size(): number {
    return this.#pending.size;
  }

  /**
   * Sends a request and resolves with its result.
   *
   * @throws {RemoteError} The peer answered with an error.
   * @throws {TimeoutError} No answer came in time; a cancellation was sent.
   * @throws {RangeError} `timeoutMs` or `maxTimeoutMs` is not a number of 0 or more.
   * @throws `options.signal`'s reason, once it aborts; a cancellation was sent.
   * @throws Whatever `send` throws, and what `failAll` is given.
   */
  request(method: string, params?: JsonObject, options?: Options): Promise<JsonObject> {
    return this.#request(method, params, options, false) as Promise<JsonObject>;
  }

  /** Like `request`, but resolves with the response as it came, an error too, under this table's id. For gateways. */
  requestRaw(method: string, params?: JsonObject, options?: Options): Promise<JsonRpcResponse> {
    return this.#request(method, params, options, true) as Promise<JsonRpcResponse>;
  }

  /** Settles the request that a response answers. Late and second answers are ignored. False if no request of this table ever had its id. */
  settle(response: JsonRpcResponse): boolean {
    const { id } = response;
    const pending = this.#take(id);
    pending?.settle(response);
    return pending !== undefined || (typeof id === 'number' && id > 0 && id <= this.#lastId);
  }

  /** Rejects the request that an unreadable response was meant for, which would wait in vain. False if there is none. */
  settleMalformed(id: unknown, problem = 'is not a JSON-RPC response', cause?: Error): boolean {
    const pending = this.#take(id);
    pending?.fail(new InvalidResponseError(`The answer to "${pending.method}" ${problem}`, cause && { cause }));
    return pending !== undefined;
  }

  /** Hands a progress notification to the request whose token it has, and starts its time anew. The token is the id. */
  progress(params: JsonObject | undefined): void {
    const pending = this.#pending.get(params?.['progressToken'] as RequestId);
    if (!pending || !params || typeof params['progress'] !== 'number') return;
    pending.restartTime();
    try {
      // One that is async fails later, which must not go unhandled.
      const outcome: unknown = pending.options?.onProgress?.(params);
      if (outcome instanceof Promise) outcome.catch((error: unknown) => this.#options.onError?.(toError(error)));
    } catch (error) {
      this.#options.onError?.(toError(error));
    }
  }

  /**
   * Lets the time of every request stand still, both bounds, for as long as this side answers what the peer asks meanwhile. Each gets back
   * exactly what it lost: up to ten times the hard bound (and at least ten times 600,000 ms) in all.
   *
   * @returns Lets the time go on. Of several pauses the last one ends it.
   */
  pauseTimeouts(): () => void {
    this.#pauses += 1;
    if (this.#pauses === 1) for (const pending of this.#pending.values()) pending.stopTime();
    return once(() => {
      this.#pauses -= 1;
      if (this.#pauses === 0) for (const pending of this.#pending.values()) this.#resumeTime(pending);
    });
  }

  /** Rejects every request with one error; exchanges are aborted. The table can go on. */
  failAll(error: Error): void {
    const all = [...this.#pending.values()];
    this.#pending.clear();
    this.#timer.stop();
    for (const pending of all) {
      this.#unwatch(pending);
      pending.cancel(error);
    }
    if (all.length > 0) this.#options.onEmpty?.();
  }

  // ---- for pending requests

  /** Lets the time of one request stand still. */
  pauseTimeout(pending: PendingRequest<Options>): () => void {
    pending.stopTime();
    return once(() => this.#resumeTime(pending));
  }

  /** A notification came in the exchange of a request. */
  receive(pending: PendingRequest<Options>, notification: JsonRpcNotification): void {
    if (this.#pending.get(pending.id) !== pending) return;
    const { method, params } = notification;
    if (method === 'notifications/progress' && params?.['progressToken'] === pending.id) this.progress(params);
    this.#options.onMessage?.(notification, pending);
  }

  // ---- the way out

  #request(
    method: string,
    params: JsonObject | undefined,
    options: Options | undefined,
    isRaw: boolean,
  ): Promise<JsonObject | JsonRpcResponse> {
    const refusal = options && findBadTimes(options);
    if (refusal) return Promise.reject(refusal);
    if (options?.signal?.aborted) return Promise.reject(options.signal.reason);
    const pending = new PendingRequest(this, this.#newId(), method, options, isRaw);
    this.#pending.set(pending.id, pending);
    if (options?.signal) this.#watch(options.signal, pending);
    if (this.#pauses > 0) pending.stopTime();
    this.#timer.add(pending.deadlineMs);
    this.#send(pending, params);
    return pending.outcome;
  }

  #send(pending: PendingRequest<Options>, given: JsonObject | undefined): void {
    const { id, method, options } = pending;
    try {
      options?.onId?.(id);
      const params = pending.wantsProgress ? withProgressToken(given, id) : given;
      const request: JsonRpcRequest = params === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params };
      const sent = this.#options.send(request, pending);
      if (sent === undefined || sent === resolvedPromise) return;
      sent.then(
        (response) => response && this.#settleExchange(pending, response),
        (error: unknown) => this.#fail(pending, error),
      );
    } catch (error) {
      this.#fail(pending, error);
    }
  }

  #settleExchange(pending: PendingRequest<Options>, response: JsonRpcResponse): void {
    if (response.id === pending.id) this.settle(response);
    else this.settleMalformed(pending.id, "has another request's id");
  }

  // ---- the end of a request

  /** The request could not be sent, so the peer knows nothing of it. */
  #fail(pending: PendingRequest<Options>, error: unknown): void {
    this.#take(pending.id)?.fail(error);
  }

  #expire(nowMs: number): number {
    let nextMs = Infinity;
    for (const pending of [...this.#pending.values()]) {
      if (pending.endMs <= nowMs) this.#timeOut(pending, pending.reachedBoundMs(nowMs));
      else nextMs = Math.min(nextMs, pending.endMs);
    }
    return nextMs;
  }

  #timeOut(pending: PendingRequest<Options>, boundMs: number): void {
    const message = `"${pending.method}" was not answered within ${boundMs} ms: raise timeoutMs, or ask for less`;
    this.#giveUp(pending, new TimeoutError(message, boundMs), `Not answered within ${boundMs} ms`);
  }

  #giveUp(pending: PendingRequest<Options>, error: unknown, reason: string | undefined): void {
    if (!this.#take(pending.id)) return;
    if (pending.options?.isCancellable !== false) {
      this.#options.sendCancelled?.(reason === undefined ? { requestId: pending.id } : { requestId: pending.id, reason }, pending);
    }
    pending.cancel(error);
  }

  #take(id: unknown): PendingRequest<Options> | undefined {
    const pending = this.#pending.get(id as RequestId);
    if (!pending) return undefined;
    this.#pending.delete(pending.id);
    this.#timer.remove(pending.deadlineMs);
    this.#unwatch(pending);
    if (this.#pending.size === 0) this.#options.onEmpty?.();
    return pending;
  }

  // ---- time

  /** The timer may have passed the request over while its time stood still. */
  #resumeTime(pending: PendingRequest<Options>): void {
    pending.resumeTime();
    if (this.#pending.get(pending.id) === pending) this.#timer.moveTo(pending.endMs);
  }

  // ---- signals

  #watch(signal: AbortSignal, pending: PendingRequest<Options>): void {
    let sharers = this.#bySignal.get(signal);
    if (!sharers) {
      this.#bySignal.set(signal, (sharers = new Set()));
      signal.addEventListener('abort', this.#onAbort, { once: true });
    }
    sharers.add(pending);
  }

  #unwatch(pending: PendingRequest<Options>): void {
    const signal = pending.options?.signal;
    const sharers = signal && this.#bySignal.get(signal);
    if (!sharers?.delete(pending) || sharers.size > 0) return;
    signal?.removeEventListener('abort', this.#onAbort);
    this.#bySignal.delete(signal as AbortSignal);
  }

  readonly #onAbort = ({ target }: Event): void => {
    const signal = target as AbortSignal;
    for (const pending of [...(this.#bySignal.get(signal) ?? [])]) this.#giveUp(pending, signal.reason, toReasonText(signal.reason));
  };
}

/** The id is also the token: it is unique among the sender's requests, and no table of tokens is needed. */
function withProgressToken(params: JsonObject | undefined, token: RequestId): JsonObject {
  if (params === undefined) return { _meta: { progressToken: token } };
  const meta = params['_meta'];
  const sentMeta = isJsonObject(meta) ? copyObject(meta) : {};
  sentMeta['progressToken'] = token;
  const sent = copyObject(params);
  sent['_meta'] = sentMeta;
  return sent;
}

function toReasonText(reason: unknown): string | undefined {
  if (typeof reason === 'string') return reason;
  return reason instanceof Error ? reason.message : undefined;
}

/** `null` is not given, as in options read from JSON. */
function findBadTimes(options: RequestOptions): RangeError | undefined {
  for (const name of ['timeoutMs', 'maxTimeoutMs'] as const) {
    const value: unknown = options[name] ?? 0;
    if (typeof value === 'number' && value >= 0) continue;
    return new RangeError(`timeoutMs and maxTimeoutMs must be 0 or more milliseconds, got ${name}: ${String(value)}`);
  }
  return undefined;
}

function once(run: () => void): () => void {
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    run();
  };
}
