/** An exchange without a wire: one function call, which proves that the two sides of the joint have the same shape. */

import { InvalidResponseError } from './errors.ts';
import { classifyMessage } from './guards.ts';
import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from './message.ts';
import { abortable } from './signals.ts';
import { toWireError } from './to-wire-error.ts';
import type { ExchangeOptions, ExchangeTransport } from './transport/transport.ts';

/** One exchange, as the side that answers sees it. */
export interface InMemoryExchangeCall {
  /** Aborts when the caller leaves. Made on first use. */
  readonly signal: AbortSignal;
  /** The headers that the caller added, if any. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Sends a notification that belongs to the request. Does nothing once the exchange is over. */
  onMessage(message: JsonRpcNotification): void;
}

/**
 * Makes exchanges by calling a function. Messages pass by reference.
 *
 * What the function throws becomes an error response, as `toWireError` says. Keeps the promises X1 to X5. An exchange rejects with the
 * reason of its signal, and with `InvalidResponseError` where the function gives something else than a response to its request.
 */
export function createInMemoryExchange(
  handle: (request: JsonRpcRequest, call: InMemoryExchangeCall) => JsonRpcResponse | Promise<JsonRpcResponse>,
): ExchangeTransport {
  return {
    async exchange(request, options = {}) {
      options.signal?.throwIfAborted();
      const call = new MemoryCall(options);
      try {
        const response = await abortable(answer(handle, request, call), options.signal);
        if (classifyMessage(response) === 'response' && response.id === request.id) return response;
        throw new InvalidResponseError(`The answer to "${request.method}" is not a response to its request`);
      } finally {
        call.end();
      }
    },
  };
}

async function answer(
  handle: Parameters<typeof createInMemoryExchange>[0],
  request: JsonRpcRequest,
  call: InMemoryExchangeCall,
): Promise<JsonRpcResponse> {
  try {
    return await handle(request, call);
  } catch (error) {
    return { jsonrpc: '2.0', id: request.id, error: toWireError(error) };
  }
}

class MemoryCall implements InMemoryExchangeCall {
  readonly #options: ExchangeOptions;
  #signal: AbortSignal | undefined;
  #isOver = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  get signal(): AbortSignal {
    return (this.#signal ??= this.#options.signal ?? new AbortController().signal);
  }

  get headers(): Readonly<Record<string, string>> | undefined {
    return this.#options.headers;
  }

  onMessage(message: JsonRpcNotification): void {
    if (!this.#isOver) this.#options.onMessage?.(message);
  }

  end(): void {
    this.#isOver = true;
  }
}
