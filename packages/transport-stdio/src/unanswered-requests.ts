/** Remembers which requests of the peer wait for an answer, so that a stream that ends is not closed over them. */

import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import { isRequestId } from '@mortise/jsonrpc-core/messages';

type Messages = JsonRpcMessage | readonly JsonRpcMessage[];

interface AnyMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown } | null;
}

/** The ids of requests that were received and not answered. Looks at members only: what is not a message is not counted. */
export class UnansweredRequests {
  /** How many requests wait under each id: of two with one id each gets an answer of its own. */
  readonly #counts = new Map<unknown, number>();
  /** The ids of the batch that is being delivered, which one answer without an id may refuse as a whole. */
  #batch: unknown[] | undefined;
  #onNone: (() => void) | undefined;

  /** Counts what is about to be delivered. An answer without an id that is sent before `onDelivered` answers all that it holds. */
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

  /** Calls back as soon as no request waits, at once if none does. */
  whenNone(fn: () => void): void {
    if (this.#counts.size === 0) fn();
    else this.#onNone = fn;
  }

  #count(message: unknown): void {
    if (typeof message !== 'object' || message === null) return;
    const { id, method, params } = message as AnyMessage;
    if (typeof method !== 'string') return;
    if (id === undefined) {
      // A cancelled request need not be answered.
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

/** A peer whose requests are never answered, whatever they are, must not fill the memory. */
const MAX_COUNTED = 20_000;
