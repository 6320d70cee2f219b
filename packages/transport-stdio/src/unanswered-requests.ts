/** Remembers which requests of the peer wait for an answer, so that a stream that ends is not closed over them. */

import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import { isRequestId } from '@mortise/jsonrpc-core/messages';

interface AnyMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown } | null;
}

/** The ids of requests that were received and not answered. Looks at members only: what is not a message is not counted. */
export class UnansweredRequests {
  readonly #ids = new Set<unknown>();
  #onNone: (() => void) | undefined;

  onReceived(message: JsonRpcMessage | readonly JsonRpcMessage[]): void {
    if (Array.isArray(message)) for (const member of message as readonly JsonRpcMessage[]) this.#count(member);
    else this.#count(message as JsonRpcMessage);
  }

  onSent(message: JsonRpcMessage | readonly JsonRpcMessage[]): void {
    if (Array.isArray(message)) for (const member of message as readonly JsonRpcMessage[]) this.#settle(member);
    else this.#settle(message as JsonRpcMessage);
  }

  /** Calls back as soon as no request waits, at once if none does. */
  whenNone(fn: () => void): void {
    if (this.#ids.size === 0) fn();
    else this.#onNone = fn;
  }

  #count(message: unknown): void {
    if (typeof message !== 'object' || message === null) return;
    const { id, method, params } = message as AnyMessage;
    if (typeof method !== 'string') return;
    if (id !== undefined) {
      if (isRequestId(id) && this.#ids.size < MAX_COUNTED) this.#ids.add(id);
    }
    // A cancelled request need not be answered.
    else if (method === 'notifications/cancelled') this.#forget(params?.requestId);
  }

  #settle(message: JsonRpcMessage): void {
    const { id, method } = message as AnyMessage;
    if (method === undefined) this.#forget(id);
  }

  #forget(id: unknown): void {
    if (this.#ids.delete(id) && this.#ids.size === 0) this.#onNone?.();
  }
}

/** A peer whose requests are never answered, whatever they are, must not fill the memory. */
const MAX_COUNTED = 20_000;
