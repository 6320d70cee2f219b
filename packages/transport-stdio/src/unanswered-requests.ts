/** Tracks the peer's requests that have no response yet, so that the transport can wait for the responses before it closes. */

import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import { isRequestId } from '@mortise/jsonrpc-core/messages';

type Messages = JsonRpcMessage | readonly JsonRpcMessage[];

interface AnyMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown } | null;
}

/** Counts received requests that have no response yet, by their id. Ignores values that are not JSON-RPC messages. */
export class UnansweredRequests {
  /** How many requests wait for a response, by id: two requests with the same id get a response each. */
  readonly #counts = new Map<unknown, number>();
  /** The request ids of the JSON-RPC batch that is being delivered. One error response without an id can reject the whole batch. */
  #batch: unknown[] | undefined;
  #onNone: (() => void) | undefined;

  /** Counts the requests in a message before its delivery. Until `onDelivered`, a response without an id answers all of them. */
  onReceived(message: Messages): void {
    if (!Array.isArray(message)) return this.#count(message);
    this.#batch = [];
    for (const member of message as readonly JsonRpcMessage[]) this.#count(member);
  }

  onDelivered(): void {
    this.#batch = undefined;
  }

  onSent(message: Messages): void {
    if (Array.isArray(message)) for (const member of message as readonly JsonRpcMessage[]) this.#settle(member);
    else this.#settle(message as JsonRpcMessage);
  }

  /** Calls `fn` as soon as no request waits for a response; at once if none does. */
  whenNone(fn: () => void): void {
    if (this.#counts.size === 0) fn();
    else this.#onNone = fn;
  }

  #count(message: unknown): void {
    if (typeof message !== 'object' || message === null) return;
    const { id, method, params } = message as AnyMessage;
    if (typeof method !== 'string') return;
    if (id === undefined) {
      // A cancelled request gets no response.
      if (method === 'notifications/cancelled') this.#forget(params?.requestId);
    } else if (isRequestId(id) && this.#counts.size < MAX_COUNTED) {
      this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
      this.#batch?.push(id);
    }
  }

  #settle(message: JsonRpcMessage): void {
    const { id, method } = message as AnyMessage;
    if (method !== undefined) return;
    if (isRequestId(id)) return this.#forget(id);
    for (const refused of this.#batch?.splice(0) ?? []) this.#forget(refused);
  }

  #forget(id: unknown): void {
    const count = this.#counts.get(id);
    if (count === undefined) return;
    if (count > 1) this.#counts.set(id, count - 1);
    else if (this.#counts.delete(id) && this.#counts.size === 0) this.#onNone?.();
  }
}

/** The most requests that are counted, so that requests that never get a response cannot fill the memory. */
const MAX_COUNTED = 20_000;
