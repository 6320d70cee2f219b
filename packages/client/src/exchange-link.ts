/** A link whose every request is an exchange of its own. What a call does not use (signals, listeners) it does not pay for. */

import {
  type ClockTimer,
  ConnectionClosedError,
  copyObject,
  type ExchangeOptions,
  type ExchangeTransport,
  InvalidResponseError,
  isJsonObject,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type MutableJsonObject,
  RemoteError,
  TimeoutError,
  type Transport,
} from '@mortise/jsonrpc-core';
import type { LinkSettings } from './channel-link.ts';
import type { Link, LinkHost, LinkRequestOptions, LinkStream } from './link.ts';

type Outcome = JsonObject | JsonRpcResponse;

export class ExchangeLink implements Link {
  host: LinkHost;
  /** Never called: an exchange that breaks concerns no other. */
  onInterrupted: (() => void) | undefined;
  readonly closed: Promise<void>;
  readonly settings: LinkSettings;
  readonly #transport: ExchangeTransport & Partial<Transport>;
  readonly #calls = new Set<PendingExchange>();
  #lastId = 0;
  #isClosed = false;
  // One timer serves all calls: with equal timeouts only the first call of a burst has to set it.
  #timer: ClockTimer | undefined;
  #timerAtMs = Infinity;
  #resolveClosed: () => void = () => undefined;

  constructor(transport: ExchangeTransport & Partial<Transport>, host: LinkHost, settings: LinkSettings) {
    this.#transport = transport;
    this.host = host;
    this.settings = settings;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  /** Starts the transport, where it is one that starts. What it reports beside any request is told on. */
  async start(): Promise<void> {
    const transport = this.#transport;
    const { onerror } = transport;
    const ours = (error: Error): void => {
      onerror?.call(transport, error);
      this.settings.onError(error);
    };
    transport.onerror = ours;
    void this.closed.then(() => {
      if (transport.onerror === ours) transport.onerror = onerror;
    });
    await transport.start?.();
  }

  request(method: string, params: JsonObject | undefined, options?: LinkRequestOptions): Promise<JsonObject> {
    return new Promise<Outcome>((resolve, reject) =>
      this.#open(method, params, options, { resolve, reject, isRaw: false }),
    ) as Promise<JsonObject>;
  }

  requestRaw(method: string, params: JsonObject | undefined, options?: LinkRequestOptions): Promise<JsonRpcResponse> {
    return new Promise<Outcome>((resolve, reject) =>
      this.#open(method, params, options, { resolve, reject, isRaw: true }),
    ) as Promise<JsonRpcResponse>;
  }

  /** Only a transport that is a channel too can carry a message that belongs to no request. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.#transport.send?.({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  openStream(method: string, params: JsonObject, onNotification: (notification: JsonRpcNotification) => void): LinkStream {
    const controller = new AbortController();
    const options: LinkRequestOptions = { timeoutMs: Infinity, maxTimeoutMs: Infinity, signal: controller.signal };
    let onCancelled: () => void = () => undefined;
    const cancelled = new Promise<undefined>((resolve) => {
      onCancelled = () => resolve(undefined);
    });
    const route = (notification: JsonRpcNotification): void => {
      if (notification.method === 'notifications/cancelled') onCancelled();
      else onNotification(notification);
    };
    const result = new Promise<Outcome>((resolve, reject) => this.#open(method, params, options, { resolve, reject, isRaw: false, route }));
    const ended = Promise.race([result as Promise<JsonObject>, cancelled]);
    const cancel = (): void => {
      onCancelled();
      controller.abort();
    };
    ended.then(cancel, () => undefined);
    result.catch(() => undefined);
    return { ended, cancel };
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#stopTimer();
      const error = new ConnectionClosedError();
      for (const call of this.#calls) call.abandon(error);
      await this.#transport.close?.();
      this.#resolveClosed();
    }
    await this.closed;
  }

  /** A call has been settled. */
  forget(call: PendingExchange): void {
    this.#calls.delete(call);
  }

  #open(method: string, params: JsonObject | undefined, options: LinkRequestOptions | undefined, caller: Caller): void {
    const { timeoutMs = this.settings.requestTimeoutMs ?? 60_000, maxTimeoutMs, signal } = options ?? {};
    if (this.#isClosed) return caller.reject(new ConnectionClosedError());
    if (!(timeoutMs > 0)) return caller.reject(new RangeError(`timeoutMs must be a number above 0, got ${timeoutMs}`));
    if (signal?.aborted) return caller.reject(signal.reason);
    const nowMs = timeoutMs === Infinity ? 0 : this.settings.clock.monotonicMs();
    const maxMs = maxTimeoutMs ?? Math.max(timeoutMs, this.settings.maxRequestTimeoutMs ?? 600_000);
    const call = new PendingExchange(this, ++this.#lastId, method, options, caller, { nowMs, timeoutMs, maxMs });
    this.#calls.add(call);
    signal?.addEventListener('abort', call, { once: true });
    if (call.deadlineMs < this.#timerAtMs) this.#arm(call.deadlineMs);
    call.send(this.#transport, params);
  }

  #arm(atMs: number): void {
    this.#timer?.cancel();
    this.#timerAtMs = atMs;
    this.#timer = this.settings.clock.schedule(() => this.#sweep(), Math.max(0, atMs - this.settings.clock.monotonicMs()));
  }

  #sweep(): void {
    this.#stopTimer();
    const nowMs = this.settings.clock.monotonicMs();
    let nextMs = Infinity;
    for (const call of this.#calls) {
      if (call.deadlineMs <= nowMs) call.expire(nowMs);
      else nextMs = Math.min(nextMs, call.deadlineMs);
    }
    if (nextMs < this.#timerAtMs) this.#arm(nextMs);
  }

  #stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAtMs = Infinity;
  }
}

/** Who waits for an exchange. */
interface Caller {
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
  /** Resolves with the response as it came, errors included. */
  readonly isRaw: boolean;
  /** Where notifications of this exchange go; absent for the link's host. */
  readonly route?: (notification: JsonRpcNotification) => void;
}

/** One exchange that is not over yet. It is its own options and its signal's listener, so that neither costs an object. */
class PendingExchange implements ExchangeOptions {
  readonly id: number;
  readonly headers: Readonly<Record<string, string>> | undefined;
  deadlineMs: number;
  readonly #hardDeadlineMs: number;
  readonly #timeoutMs: number;
  readonly #link: ExchangeLink;
  readonly #method: string;
  readonly #options: LinkRequestOptions | undefined;
  readonly #caller: Caller;
  #controller: AbortController | undefined;
  #onAbort: ((reason: unknown) => void) | undefined;
  #abortReason: unknown;
  #isOver = false;

  constructor(
    link: ExchangeLink,
    id: number,
    method: string,
    options: LinkRequestOptions | undefined,
    caller: Caller,
    time: { readonly nowMs: number; readonly timeoutMs: number; readonly maxMs: number },
  ) {
    this.#link = link;
    this.id = id;
    this.#method = method;
    this.#options = options;
    this.#caller = caller;
    this.headers = options?.headers;
    this.#timeoutMs = time.timeoutMs;
    this.#hardDeadlineMs = time.nowMs + time.maxMs;
    this.deadlineMs = Math.min(time.nowMs + time.timeoutMs, this.#hardDeadlineMs);
  }

  /** Aborts when the exchange is given up. Made on first use. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  /** What `signal` tells, without one. */
  onAbort(listener: (reason: unknown) => void): void {
    if (this.#abortReason !== undefined) listener(this.#abortReason);
    else this.#onAbort = listener;
  }

  /** True once the exchange is given up; cheaper than asking the signal, which may not exist yet. */
  get isCancelled(): boolean {
    return this.#abortReason !== undefined;
  }

  get onMessage(): (notification: JsonRpcNotification) => void {
    return (notification) => this.#receive(notification);
  }

  send(transport: ExchangeTransport, params: JsonObject | undefined): void {
    const request: JsonRpcRequest = {
      jsonrpc: '2.0',
      id: this.id,
      method: this.#method,
      params: this.#wantsProgress ? withToken(params, this.id, this.#caller.isRaw) : (params ?? {}),
    };
    try {
      transport.exchange(request, this).then(
        (response) => this.#settle(response),
        (error: unknown) => this.#fail(error),
      );
    } catch (error) {
      this.#fail(error);
    }
  }

  handleEvent(): void {
    this.abandon(this.#options?.signal?.reason);
  }

  expire(nowMs: number): void {
    const boundMs = nowMs >= this.#hardDeadlineMs ? (this.#options?.maxTimeoutMs ?? this.#timeoutMs) : this.#timeoutMs;
    this.abandon(new TimeoutError(`"${this.#method}" was not answered within ${boundMs} ms: raise timeoutMs, or ask for less`, boundMs));
  }

  /** Gives the exchange up: the peer is to stop, and the caller learns why. */
  abandon(reason: unknown): void {
    if (this.#isOver) return;
    this.#end();
    this.#abortReason = reason ?? new Error('aborted');
    this.#controller?.abort(reason);
    this.#onAbort?.(reason);
    this.#caller.reject(reason);
  }

  get #wantsProgress(): boolean {
    const options = this.#options;
    return options?.onProgress !== undefined || (this.#timeoutMs !== Infinity && options?.resetTimeoutOnProgress !== false);
  }

  #receive(notification: JsonRpcNotification): void {
    if (this.#isOver) return;
    const { method, params } = notification;
    if (this.#caller.route) return this.#caller.route(notification);
    if (method === 'notifications/progress' && isJsonObject(params) && params['progressToken'] === this.id) this.#onProgress(params);
    this.#link.host.onNotification(notification);
  }

  #onProgress(params: JsonObject): void {
    if (typeof params['progress'] !== 'number') return;
    const { onProgress, resetTimeoutOnProgress } = this.#options ?? {};
    const { clock, onError } = this.#link.settings;
    if (resetTimeoutOnProgress !== false) this.deadlineMs = Math.min(clock.monotonicMs() + this.#timeoutMs, this.#hardDeadlineMs);
    try {
      onProgress?.(params);
    } catch (error) {
      onError(error instanceof Error ? error : new Error('onProgress threw', { cause: error }));
    }
  }

  #settle(response: JsonRpcResponse): void {
    if (this.#isOver) return;
    this.#end();
    if (response.id !== this.id) {
      this.#caller.reject(new InvalidResponseError(`The answer to "${this.#method}" has another request's id`));
    } else if (this.#caller.isRaw) this.#caller.resolve(response);
    else if ('error' in response) this.#caller.reject(new RemoteError(response.error, this.#method));
    else this.#caller.resolve(response.result);
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#end();
    this.#caller.reject(error);
  }

  #end(): void {
    this.#isOver = true;
    this.#options?.signal?.removeEventListener('abort', this);
    this.#link.forget(this);
  }
}

/** Parameters that a session made are the link's own and are written to; a gateway's are not. */
function withToken(params: JsonObject = {}, progressToken: number, isForeign: boolean): JsonObject {
  const own = params['_meta'];
  if (!isForeign && isJsonObject(own)) {
    (own as MutableJsonObject)['progressToken'] = progressToken;
    return params;
  }
  const meta = isJsonObject(own) ? copyObject(own) : {};
  meta['progressToken'] = progressToken;
  const sent = copyObject(params);
  sent['_meta'] = meta;
  return sent;
}
