/** `Arrivals`: the messages that a live server sends, to be waited for in the order of a recording. */

import type { JsonRpcMessage, JsonRpcRequest, JsonRpcResponse, Transport } from '@mortise/jsonrpc-core';
import { withTimeout } from '@mortise/jsonrpc-core/connection';
import { CliError, ExitCode } from '../errors.ts';
import { clean } from '../terminal.ts';
import { isRequest, isResponse } from './recording.ts';

export class Arrivals {
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #arrived: JsonRpcMessage[] = [];
  #wake: () => void = () => undefined;
  #end: Error | undefined;
  #lastError: Error | undefined;

  /**
   * @param timeoutMs How long one message may take.
   * @param signal Ends the waiting.
   */
  constructor(transport: Transport, timeoutMs: number, signal?: AbortSignal) {
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
    transport.onmessage = (message) => {
      this.#arrived.push(message as JsonRpcMessage);
      this.#wake();
    };
    transport.onerror = this.onError;
    transport.onclose = () => {
      this.#end = this.#lastError ?? new Error('the server closed the connection');
      this.#wake();
    };
  }

  /** Keeps an error: what does not arrive may be missing because of it. */
  readonly onError = (error: Error): void => {
    this.#lastError = error;
  };

  /** @throws {CliError} It does not arrive in time, or the connection ends. */
  async response(id: unknown, method: string): Promise<JsonRpcResponse> {
    const isIt = (message: JsonRpcMessage): message is JsonRpcResponse => isResponse(message) && message.id === id;
    return this.#take(isIt, `the answer to ${clean(method)} with the id ${String(id)}`);
  }

  /** @throws {CliError} It does not arrive in time, or the connection ends. */
  async nextRequest(method: string): Promise<JsonRpcRequest> {
    const isIt = (message: JsonRpcMessage): message is JsonRpcRequest => isRequest(message) && message.method === method;
    return this.#take(isIt, `the request ${clean(method)}`);
  }

  async #take<T extends JsonRpcMessage>(isIt: (message: JsonRpcMessage) => message is T, what: string): Promise<T> {
    const { signal: stop, dispose } = withTimeout(this.#timeoutMs, this.#signal);
    stop.addEventListener('abort', () => this.#wake());
    try {
      return await this.#takeUntil(stop, isIt, what);
    } finally {
      dispose();
    }
  }

  async #takeUntil<T extends JsonRpcMessage>(stop: AbortSignal, isIt: (message: JsonRpcMessage) => message is T, what: string): Promise<T> {
    for (;;) {
      const at = this.#arrived.findIndex(isIt);
      // What `isIt` found, it has narrowed.
      if (at >= 0) return this.#arrived.splice(at, 1)[0] as T;
      this.#signal?.throwIfAborted();
      const why =
        this.#end ?? (stop.aborted ? (this.#lastError ?? new Error(`it did not come within ${this.#timeoutMs / 1000} s`)) : undefined);
      if (why) throw new CliError(`The server does not send ${what}`, ExitCode.unreachable, { cause: why });
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
