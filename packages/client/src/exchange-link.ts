/** A link whose every request is an exchange of its own. What a call does not use (signals, listeners) it does not pay for. */

import {
  ConnectionClosedError,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcResponse,
  type Transport,
} from '@mortise/jsonrpc-core';
import type { ExchangeTransport } from '@mortise/jsonrpc-core/transport';
import { DeadlineTable, findBadTimes, SignalWatch } from '@mortise/jsonrpc-core/connection';
import type { LinkSettings } from './channel-link.ts';
import type { Link, LinkHost, LinkRequestOptions, LinkStream } from './link.ts';
import { type ExchangeCaller, type ExchangeOwner, PendingExchange } from './pending-exchange.ts';

type Outcome = JsonObject | JsonRpcResponse;

export class ExchangeLink implements Link, ExchangeOwner {
  host: LinkHost;
  /** Never called: an exchange that breaks concerns no other. */
  onInterrupted: (() => void) | undefined;
  readonly closed: Promise<void>;
  readonly settings: LinkSettings;
  readonly #transport: ExchangeTransport & Partial<Transport>;
  readonly #calls = new Set<PendingExchange>();
  readonly #signals = new SignalWatch<PendingExchange>((call, reason) => call.abandon(reason));
  #lastId = 0;
  #isClosed = false;
  readonly #deadlines: DeadlineTable;
  #resolveClosed: () => void = () => undefined;

  constructor(transport: ExchangeTransport & Partial<Transport>, host: LinkHost, settings: LinkSettings) {
    this.#transport = transport;
    this.host = host;
    this.settings = settings;
    this.#deadlines = new DeadlineTable(settings.clock, () => this.#calls, settings.maxRequestTimeoutMs);
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
      const error = new ConnectionClosedError();
      for (const call of this.#calls) call.abandon(error);
      this.#deadlines.stop();
      await this.#transport.close?.();
      this.#resolveClosed();
    }
    await this.closed;
  }

  /** See `ExchangeOptions.pauseTimeout`. */
  pauseTimeout(call: PendingExchange): () => void {
    return this.#deadlines.pause(call);
  }

  /** A call has been settled. */
  forget(call: PendingExchange): void {
    if (this.#calls.delete(call)) this.#deadlines.delete(call);
    if (call.callerSignal) this.#signals.remove(call.callerSignal, call);
  }

  #open(method: string, params: JsonObject | undefined, options: LinkRequestOptions | undefined, caller: ExchangeCaller): void {
    const { signal } = options ?? {};
    const refusal = this.#isClosed ? new ConnectionClosedError() : options && findBadTimes(options);
    if (refusal) return caller.reject(refusal);
    const { clock, requestTimeoutMs, maxRequestTimeoutMs } = this.settings;
    const timeoutMs = options?.timeoutMs ?? requestTimeoutMs;
    const maxTimeoutMs = options?.maxTimeoutMs ?? Math.max(options?.timeoutMs ?? 0, maxRequestTimeoutMs);
    if (signal?.aborted) return caller.reject(signal.reason);
    const isBounded = timeoutMs !== Infinity || maxTimeoutMs !== Infinity;
    const time = { nowMs: isBounded ? clock.monotonicMs() : 0, timeoutMs, maxTimeoutMs };
    const id = ++this.#lastId;
    options?.onId?.(id);
    const call = new PendingExchange(this, { id, method, options }, caller, time);
    this.#calls.add(call);
    if (signal) this.#signals.add(signal, call);
    this.#deadlines.add(call);
    call.send(this.#transport, params);
  }
}
