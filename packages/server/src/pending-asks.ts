/** Requests to the client of a hosted session, and the answers that come back by other exchanges. */

import {
  type Clock,
  type ClockTimer,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  RemoteError,
  type RequestId,
  TimeoutError,
} from '@mortise/jsonrpc-core';
import type { LinkRequestOptions } from './client-link.ts';

interface PendingAsk {
  readonly method: string;
  readonly timeoutMs: number;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: unknown) => void;
  readonly onAbort: () => void;
  readonly signals: readonly AbortSignal[];
  timer: ClockTimer | undefined;
}

type Carry = (message: JsonRpcNotification | JsonRpcRequest) => Promise<void>;

export class PendingAsks {
  readonly #clock: Clock;
  readonly #pending = new Map<RequestId, PendingAsk>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * @throws {RemoteError} {TimeoutError} and the reasons of `options.signal` and of the call's signal.
   */
  ask(method: string, params: JsonObject | undefined, options: LinkRequestOptions, carry: Carry): Promise<JsonObject> {
    // Unguessable and unique, also where several machines write to one session.
    const id = crypto.randomUUID();
    return new Promise((resolve, reject) => {
      const signals = [options.signal, options.call?.signal].filter((signal) => signal !== undefined);
      const aborted = signals.find((signal) => signal.aborted);
      if (aborted) return reject(aborted.reason as Error);
      const giveUp = (reason: unknown): void => {
        if (!this.#take(id)) return;
        void carry({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason: 'No longer needed' } }).catch(
          () => undefined,
        );
        reject(reason as Error);
      };
      const onAbort = (): void => giveUp(signals.find((signal) => signal.aborted)?.reason);
      for (const signal of signals) signal.addEventListener('abort', onAbort, { once: true });
      const ask: PendingAsk = { method, timeoutMs: options.timeoutMs, resolve, reject, onAbort, signals, timer: undefined };
      this.#pending.set(id, ask);
      this.#arm(ask, giveUp);
      carry({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) }).catch((error: unknown) => {
        if (this.#take(id)) reject(error as Error);
      });
    });
  }

  settle(response: JsonRpcResponse): void {
    const ask = response.id === undefined || response.id === null ? undefined : this.#take(response.id);
    if (!ask) return;
    if ('error' in response) ask.reject(new RemoteError(response.error, ask.method));
    else ask.resolve(response.result);
  }

  failAll(reason: Error): void {
    for (const id of [...this.#pending.keys()]) this.#take(id)?.reject(reason);
  }

  #arm(ask: PendingAsk, giveUp: (reason: unknown) => void): void {
    if (ask.timeoutMs === Infinity) return;
    const { method, timeoutMs } = ask;
    ask.timer = this.#clock.schedule(
      () => giveUp(new TimeoutError(`The client did not answer "${method}" within ${timeoutMs} ms`, timeoutMs)),
      timeoutMs,
      { keepAlive: true },
    );
  }

  #take(id: RequestId): PendingAsk | undefined {
    const ask = this.#pending.get(id);
    if (!ask) return undefined;
    this.#pending.delete(id);
    ask.timer?.cancel();
    for (const signal of ask.signals) signal.removeEventListener('abort', ask.onAbort);
    return ask;
  }
}
