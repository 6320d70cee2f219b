/** One exchange that waits for its answer. What a call does not use (signals, listeners) it does not pay for. */

import {
  InvalidResponseError,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  RemoteError,
  TimeoutError,
} from '@mortise/jsonrpc-core';
import { copyObject, isJsonObject, type MutableJsonObject } from '@mortise/jsonrpc-core/messages';
import { type TimeBounds, TimeLimit } from '@mortise/jsonrpc-core/connection';
import type { ExchangeOptions, ExchangeTransport } from '@mortise/jsonrpc-core/transport';
import type { LinkSettings } from './channel-link.ts';
import type { LinkHost, LinkRequestOptions } from './link.ts';

type Outcome = JsonObject | JsonRpcResponse;

/** Who waits for an exchange. */
export interface ExchangeCaller {
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
  /** Resolves with the response as it came, errors included. */
  readonly isRaw: boolean;
  /** Where notifications of this exchange go; absent for the link's host. */
  readonly route?: (notification: JsonRpcNotification) => void;
}

/** What bounds an exchange; `Infinity` for no bound. */
export interface ExchangeTime extends TimeBounds {
  readonly nowMs: number;
}

/** The link that an exchange belongs to. */
export interface ExchangeOwner {
  readonly host: LinkHost;
  readonly settings: LinkSettings;
  /** Lets the time of an exchange stand still. @returns Lets it go on. */
  pauseTimeout(exchange: PendingExchange): () => void;
  /** An exchange has been settled. */
  forget(exchange: PendingExchange): void;
}

/** One exchange that is not over yet. It is its own options, which so cost no object. */
export class PendingExchange extends TimeLimit implements ExchangeOptions {
  readonly id: number;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly #time: ExchangeTime;
  readonly #owner: ExchangeOwner;
  readonly #method: string;
  readonly #options: LinkRequestOptions | undefined;
  readonly #caller: ExchangeCaller;
  #controller: AbortController | undefined;
  #onAbort: ((reason: unknown) => void) | undefined;
  #abortReason: unknown;
  #isOver = false;

  constructor(
    owner: ExchangeOwner,
    call: { readonly id: number; readonly method: string; readonly options: LinkRequestOptions | undefined },
    caller: ExchangeCaller,
    time: ExchangeTime,
  ) {
    super(time, time.nowMs);
    this.#owner = owner;
    this.id = call.id;
    this.#method = call.method;
    this.#options = call.options;
    this.#caller = caller;
    this.headers = call.options?.headers;
    this.#time = time;
  }

  /** The signal by which the caller may give the exchange up. */
  get callerSignal(): AbortSignal | undefined {
    return this.#options?.signal;
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

  pauseTimeout(): () => void {
    return this.#owner.pauseTimeout(this);
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

  protected onTimeout(boundMs: number): void {
    this.abandon(new TimeoutError(`"${this.#method}" was not answered within ${boundMs} ms: raise timeoutMs, or ask for less`, boundMs));
  }

  get #wantsProgress(): boolean {
    const options = this.#options;
    return options?.onProgress !== undefined || (this.#time.timeoutMs !== Infinity && options?.resetTimeoutOnProgress !== false);
  }

  #receive(notification: JsonRpcNotification): void {
    if (this.#isOver) return;
    const { method, params } = notification;
    if (this.#caller.route) return this.#caller.route(notification);
    if (method === 'notifications/progress' && isJsonObject(params) && params['progressToken'] === this.id) this.#onProgress(params);
    this.#owner.host.onNotification(notification);
  }

  #onProgress(params: JsonObject): void {
    if (typeof params['progress'] !== 'number') return;
    const { onProgress, resetTimeoutOnProgress } = this.#options ?? {};
    const { clock, onError } = this.#owner.settings;
    if (resetTimeoutOnProgress !== false) this.restart(clock.monotonicMs());
    const report = (error: unknown): void => onError(error instanceof Error ? error : new Error('onProgress threw', { cause: error }));
    try {
      // A callback that is async fails later, which must not go unhandled.
      const outcome: unknown = onProgress?.(params);
      if (outcome instanceof Promise) outcome.catch(report);
    } catch (error) {
      report(error);
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
    this.#owner.forget(this);
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
