/** An exchange without a wire: each is one call of a function, and messages pass by reference. */

import { InvalidResponseError } from '@mortise/jsonrpc-core';
import type { ExchangeTransport } from '@mortise/jsonrpc-core/transport';
import { abortable } from '@mortise/jsonrpc-core/connection';
import type { AnswerExchange } from '@mortise/transport-testkit';

export function createSmallExchange(answer: AnswerExchange): ExchangeTransport {
  return {
    async exchange(request, { signal = new AbortController().signal, onMessage } = {}) {
      signal.throwIfAborted();
      let isOver = false;
      const notify: Parameters<AnswerExchange>[1]['notify'] = (message) => void (isOver || onMessage?.(message));
      const response = await abortable(answer(request, { signal, notify }), signal).finally(() => (isOver = true));
      if (response.id !== request.id) throw new InvalidResponseError("The answer has another request's id");
      return response;
    },
  };
}
