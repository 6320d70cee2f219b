/** The requests sent from here that wait for their answer: settles each exactly once, in time or not. */

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

/** How a table sends requests, and how long they wait. */
export interface RequestTableOptions<Options extends RequestOptions = RequestOptions> {
  /**
   * Sends one request. On a channel it resolves once the message is handed over, and the response comes by `settle`; an exchange resolves to
   * the response itself. Where it throws or rejects, the request fails with that.
   *
   * @param pending May be given to a transport as the options of `send` or `exchange`; `pending.options` is what the caller gave.
   */
  send(request: JsonRpcRequest, pending: PendingRequest<Options>): void | Promise<JsonRpcResponse | void>;
  /** Tells the peer that a request was given up. Must not throw. An exchange has nothing to send: it ends by itself. */
  sendCancelled(params: { readonly requestId: RequestId; readonly reason?: string }, pending: PendingRequest<Options>): void;
  /** Called with what a caller's `onProgress` threw. Must not throw. */
  readonly onError: (error: Error) => void;
  /** Called with each notification that came in the exchange of a request, progress included. @default none */
  onMessage?(notification: JsonRpcNotification, pending: PendingRequest<Options>): void;
  /** Called when no request waits any more. @default none */
  onEmpty?(): void;
  /** Makes an id that no other request of the same peer has. @default integers that count up */
  readonly newId?: (() => RequestId) | undefined;
  /** How long a request waits that has no `timeoutMs` of its own. */
  readonly timeoutMs: number;
  /** How long a request waits whatever progress comes, unless it has a longer time of its own. */
  readonly maxTimeoutMs: number;
  readonly clock: Clock;
}

/**
 * Every request that waits on one connection, in one session, or with one client of exchanges.
 *
 * One table for each: answers are found by id, and ids are unique within a table only.
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
  request(method: string, params?: RequestParams, options?: Options): Promise<JsonObject> {
    return this.#request(method, params, options, false) as Promise<JsonObject>;
  }

  /** Like `request`, but resolves with the response as it came, an error too, under this table's id. For gateways. */
  requestRaw(method: string, params?: RequestParams, options?: Options): Promise<JsonRpcResponse> {
    return this.#request(method, params, options, true) as Promise<JsonRpcResponse>;
  }

  /** Settles the request that a response answers. Late and second answers are ignored. False if no request of this table ever had its id. */
  settle(response: JsonRpcResponse): boolean {
    const { id } = response;
    const pending = this.#take(id);
    pending?.settle(response);
    return pending !== undefined || (typeof id === 'number' && id > 0 && id <= this.#lastId);
  }

  /** Rejects the request that an unreadable response was meant for. False if there is none. */
  settleMalformed(id: unknown, problem = 'is not a JSON-RPC response', cause?: Error): boolean {
    const pending = this.#take(id);
    pending?.fail(new InvalidResponseError(`The answer to "${pending.method}" ${problem}`, cause && { cause }));
    return pending !== undefined;
  }

  /** Hands a progress notification to the request whose token it has, and restarts its time. The token is the id. */
  progress(params: JsonObject | undefined): void {
    const pending = this.#pending.get(params?.['progressToken'] as RequestId);
    if (!pending || !params || typeof params['progress'] !== 'number') return;
    pending.restartTime();
    runCallback(() => pending.options?.onProgress?.(params), this.#options.onError);
  }

  /**
   * Stops the clock of every request, for as long as this side answers what the peer asks meanwhile.
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

  /** Hands a notification to the stream that it belongs to. False if there is none under this id. */
  deliver(id: unknown, notification: JsonRpcNotification): boolean {
    const onNotification = this.#pending.get(id as RequestId)?.options?.onNotification;
    onNotification?.(notification);
    return onNotification !== undefined;
  }

  /** The peer has ended a stream: it rejects with `null`, and its exchange is aborted. Does nothing to other requests. */
  endStream(id: unknown): void {
    if (this.#pending.get(id as RequestId)?.options?.onNotification) this.#take(id)?.abort(null);
  }

  /** Rejects every request with one error; exchanges are aborted. The table can go on. */
  failAll(error: Error): void {
    const all = this.#pending;
    this.#pending = new Map();
    this.#timer.stop();
    for (const pending of all.values()) pending.abort(error);
    if (all.size > 0) this.#options.onEmpty?.();
  }

  // ---- for pending requests

  /** Stops the clock of one request. */
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

  /** Takes a request out that is given up, and tells the peer. False if it was settled before. */
  withdraw(pending: PendingRequest<Options>, reason: unknown): boolean {
    const { id, method } = pending;
    if (!this.#take(id)) return false;
    const text = typeof reason === 'string' ? reason : reason instanceof Error ? reason.message : undefined;
    // MCP forbids to cancel this one; who gives it up closes the channel.
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

  /** @returns When to look again. */
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

  /** The timer may have passed the request over while its clock was stopped. */
  #resumeTime(pending: PendingRequest<Options>): void {
    pending.resumeTime();
    if (this.#pending.get(pending.id) === pending) this.#timer.moveTo(pending.endMs);
  }
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
