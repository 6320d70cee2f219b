/** An exchange without a wire: one function call, which proves that the two sides of the joint have the same shape. */

import { InvalidResponseError } from './errors.ts';
import { classifyMessage } from './guards.ts';
import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from './message.ts';
import { abortable } from './signals.ts';
import { toWireError } from './to-wire-error.ts';
import type { ExchangeTransport } from './transport/transport.ts';

/** One exchange, as the side that answers sees it. */
export interface InMemoryExchangeCall {
  /** Aborts when the caller leaves. */
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
      let isOver = false;
      const call: InMemoryExchangeCall = {
        signal: options.signal ?? new AbortController().signal,
        headers: options.headers,
        onMessage: (message) => void (isOver || options.onMessage?.(message)),
      };
      try {
        const response = await abortable(answer(handle, request, call), options.signal);
        if (classifyMessage(response) === 'response' && response.id === request.id) return response;
        throw new InvalidResponseError(`The answer to "${request.method}" is not a response to its request`);
      } finally {
        isOver = true;
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
