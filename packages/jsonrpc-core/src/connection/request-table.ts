/** The requests sent from this side that wait for a response. Each ends exactly once, by a response, a timeout or an error. */

import { type Clock, DeadlineTimer } from '../clock.ts';
import { renewMap } from '../collections.ts';
import { InvalidResponseError, TimeoutError } from '../errors.ts';
import {
  copyObject,
  isJsonObject,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
} from '../message.ts';
import { runCallback } from '../transport/hold-transport.ts';
import { resolvedPromise } from '../transport/transport.ts';
import { PendingRequest, type RequestOptions, type RequestParams } from './pending-request.ts';

/** The functions by which a `RequestTable` sends requests, and its time limits. */
export interface RequestTableOptions<Options extends RequestOptions = RequestOptions> {
  /**
   * Sends one request. On a channel it resolves once the message is sent, and the response is passed to `settle` later. An exchange
   * resolves to the response itself. If it throws or rejects, the request fails with that error.
   *
   * @param pending May be given to a transport as the options of `send` or `exchange`. `pending.options` holds the caller's options.
   */
  send(request: JsonRpcRequest, pending: PendingRequest<Options>): void | Promise<JsonRpcResponse | void>;
  /** Tells the peer that a request was cancelled. Must not throw. On an exchange no message is needed: aborting it is enough. */
  sendCancelled(params: { readonly requestId: RequestId; readonly reason?: string }, pending: PendingRequest<Options>): void;
  /** Called with an error thrown by the `onProgress` of a request. Must not throw. */
  readonly onError: (error: Error) => void;
  /** Called with each notification that arrives in the exchange of a request, including progress. @default none */
  onMessage?(notification: JsonRpcNotification, pending: PendingRequest<Options>): void;
  /** Called when no request is pending any more. @default none */
  onEmpty?(): void;
  /** Makes an id that no other request to the same peer has. @default integers that count up */
  readonly newId?: (() => RequestId) | undefined;
  /** The timeout of a request without its own `timeoutMs`, in milliseconds. */
  readonly timeoutMs: number;
  /** How long a request waits in total, even if progress arrives, in milliseconds. A longer `timeoutMs` of the request takes precedence. */
  readonly maxTimeoutMs: number;
  readonly clock: Clock;
}

/**
 * The pending requests of one connection, one session, or one client that makes exchanges.
 *
 * Use one table for each: responses are matched by id, and ids are unique only within a table.
 *
 * @see all revisions: basic/utilities/cancellation, basic/utilities/progress, basic/lifecycle (timeouts)
 */
export class RequestTable<Options extends RequestOptions = RequestOptions> {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly #options: RequestTableOptions<Options>;
  readonly #timer: DeadlineTimer;
  #pending = new Map<RequestId, PendingRequest<Options>>();
  #settled = 0;
  #lastId = 0;
  #pauses = 0;

  constructor(options: RequestTableOptions<Options>) {
    this.clock = options.clock;
    this.timeoutMs = options.timeoutMs;
    this.maxTimeoutMs = options.maxTimeoutMs;
    this.#options = options;
    this.#timer = new DeadlineTimer(this.clock, (nowMs) => this.#expire(nowMs));
  }

  /** How many requests are pending. */
  get size(): number {
    return this.#pending.size;
  }

  /**
   * Sends a request and resolves with its result.
   *
   * @throws {RemoteError} The peer responded with an error.
   * @throws {TimeoutError} No response arrived in time. A cancellation was sent.
   * @throws {RangeError} `timeoutMs` or `maxTimeoutMs` is not a number of 0 or more.
   * @throws `options.signal`'s reason, once it aborts. A cancellation was sent.
   * @throws The error that `send` threw, or that `failAll` was given.
   */
  request(method: string, params?: RequestParams, options?: Options): Promise<JsonObject> {
    return this.#request(method, params, options, false) as Promise<JsonObject>;
  }

  /** Like `request`, but resolves with the whole response, which may be an error. Its id is the one made by this table. For gateways. */
  requestRaw(method: string, params?: RequestParams, options?: Options): Promise<JsonRpcResponse> {
    return this.#request(method, params, options, true) as Promise<JsonRpcResponse>;
  }

  /** Ends the pending request with the response's id. Ignores a late or second response. Returns false if the table never used the id. */
  settle(response: JsonRpcResponse): boolean {
    const { id } = response;
    const pending = this.#take(id);
    pending?.settle(response);
    return pending !== undefined || (typeof id === 'number' && id > 0 && id <= this.#lastId);
  }

  /** Rejects the pending request to which an unreadable response belongs. Returns false if there is none. */
  settleMalformed(id: unknown, problem = 'is not a JSON-RPC response', cause?: Error): boolean {
    const pending = this.#take(id);
    pending?.fail(new InvalidResponseError(`The response to "${pending.method}" ${problem}`, cause && { cause }));
    return pending !== undefined;
  }

  /** Passes a progress notification to its request and restarts the request's timeout. The progress token is the request's id. */
  progress(params: JsonObject | undefined): void {
    const { progressToken, ...progress } = params ?? {};
    const pending = this.#pending.get(progressToken as RequestId);
    if (!pending || typeof progress['progress'] !== 'number') return;
    pending.restartTime();
    runCallback(() => pending.options?.onProgress?.(progress), this.#options.onError);
  }

  /**
   * Pauses the timeouts of all requests, for example while the user answers a request of the peer.
   *
   * @returns A function that ends the pause. Overlapping pauses end with the last one.
   */
  pauseTimeouts(): () => void {
    this.#pauses += 1;
    if (this.#pauses === 1) for (const pending of this.#pending.values()) pending.stopTime();
    return once(() => {
      this.#pauses -= 1;
      if (this.#pauses === 0) for (const pending of this.#pending.values()) this.#resumeTime(pending);
    });
  }

  /** Passes a notification to the stream request (one with `onNotification`) with this id. Returns false if there is none. */
  deliver(id: unknown, notification: JsonRpcNotification): boolean {
    const onNotification = this.#pending.get(id as RequestId)?.options?.onNotification;
    onNotification?.(notification);
    return onNotification !== undefined;
  }

  /** Ends a stream request that the peer has closed: rejects it with `null` and aborts its exchange. Does nothing for other requests. */
  endStream(id: unknown): void {
    if (this.#pending.get(id as RequestId)?.options?.onNotification) this.#take(id)?.abort(null);
  }

  /** Rejects every pending request with one error and aborts exchanges. The table can still be used afterwards. */
  failAll(error: Error): void {
    const all = this.#pending;
    this.#pending = new Map();
    this.#timer.stop();
    for (const pending of all.values()) pending.abort(error);
    if (all.size > 0) this.#options.onEmpty?.();
  }

  // ---- for pending requests

  /** Pauses the timeouts of one request. @returns A function that ends the pause. */
  pauseTimeout(pending: PendingRequest<Options>): () => void {
    pending.stopTime();
    return once(() => this.#resumeTime(pending));
  }

  /** Handles a notification that arrived in a request's exchange. */
  receive(pending: PendingRequest<Options>, notification: JsonRpcNotification): void {
    if (this.#pending.get(pending.id) !== pending) return;
    const { method, params } = notification;
    if (method === 'notifications/progress' && params?.['progressToken'] === pending.id) this.progress(params);
    this.#options.onMessage?.(notification, pending);
  }

  /** Removes a request that has timed out or was aborted, and sends a cancellation. Returns false if the request had ended before. */
  withdraw(pending: PendingRequest<Options>, reason: unknown): boolean {
    const { id, method } = pending;
    if (!this.#take(id)) return false;
    const text = typeof reason === 'string' ? reason : reason instanceof Error ? reason.message : undefined;
    // MCP forbids cancelling `initialize`. The caller closes the channel instead.
    if (method !== 'initialize')
      this.#options.sendCancelled(text === undefined ? { requestId: id } : { requestId: id, reason: text }, pending);
    return true;
  }

  // ---- sending

  #request(
    method: string,
    params: RequestParams | undefined,
    options: Options | undefined,
    isRaw: boolean,
  ): Promise<JsonObject | JsonRpcResponse> {
    const refusal = options && findBadTimes(options);
    if (refusal) return Promise.reject(refusal);
    if (options?.signal?.aborted) return Promise.reject(options.signal.reason);
    const pending = new PendingRequest(this, this.#options.newId?.() ?? ++this.#lastId, method, options, isRaw);
    this.#pending.set(pending.id, pending);
    if (this.#pauses > 0) pending.stopTime();
    this.#timer.add(pending.deadlineMs);
    this.#send(pending, params);
    return pending.outcome;
  }

  #send(pending: PendingRequest<Options>, given: RequestParams | undefined): void {
    const { id, method } = pending;
    try {
      const token = pending.wantsProgress ? id : undefined;
      const params = typeof given === 'function' ? given(token) : token === undefined ? given : withProgressToken(given, token);
      const request: JsonRpcRequest = params === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params };
      const sent = this.#options.send(request, pending);
      if (sent === undefined || sent === resolvedPromise) return;
      sent.then(
        (response) => response && this.#settleExchange(pending, response),
        (error: unknown) => this.#take(id)?.fail(error),
      );
    } catch (error) {
      this.#take(id)?.fail(error);
    }
  }

  #settleExchange(pending: PendingRequest<Options>, response: JsonRpcResponse): void {
    if (response.id === pending.id) this.settle(response);
    else this.settleMalformed(pending.id, "has another request's id");
  }

  #take(id: unknown): PendingRequest<Options> | undefined {
    const pending = this.#pending.get(id as RequestId);
    if (!pending) return undefined;
    this.#pending.delete(pending.id);
    this.#pending = renewMap(this.#pending, ++this.#settled);
    this.#timer.remove(pending.deadlineMs);
    if (pending.options?.signal) pending.release();
    if (this.#pending.size === 0) this.#options.onEmpty?.();
    return pending;
  }

  // ---- time

  /** Ends the requests whose time is over. @returns The time of the next check. */
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
    pending.cancel(new TimeoutError(message, boundMs));
  }

  /** Ends a pause of a request, and moves the timer, which may have skipped the request during the pause. */
  #resumeTime(pending: PendingRequest<Options>): void {
    pending.resumeTime();
    if (this.#pending.get(pending.id) === pending) this.#timer.moveTo(pending.endMs);
  }
}

/** Adds the progress token to a request's parameters: the request's id, because it is unique and needs no second table. */
function withProgressToken(params: JsonObject | undefined, token: RequestId): JsonObject {
  if (params === undefined) return { _meta: { progressToken: token } };
  const meta = params['_meta'];
  const sentMeta = isJsonObject(meta) ? copyObject(meta) : {};
  sentMeta['progressToken'] = token;
  const sent = copyObject(params);
  sent['_meta'] = sentMeta;
  return sent;
}

/** Checks a request's time limits. `null` counts as left out, as in options read from JSON. @returns The error, if a limit is invalid. */
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
