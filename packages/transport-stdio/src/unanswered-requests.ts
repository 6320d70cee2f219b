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
  /** How long each is. */
  readonly #lengths = new Map<unknown, number>();
  #bytes = 0;
  #onNone: (() => void) | undefined;

  /** How many bytes they have, roughly: characters count as one. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param length Of the line that brought it. */
  onReceived(message: JsonRpcMessage | readonly JsonRpcMessage[], length: number): void {
    if (!Array.isArray(message)) return this.#count(message, length);
    const members = message as readonly JsonRpcMessage[];
    for (const member of members) this.#count(member, length / members.length);
  }

  /** @returns Whether a request was answered. */
  onSent(message: JsonRpcMessage | readonly JsonRpcMessage[]): boolean {
    if (!Array.isArray(message)) return this.#settle(message as JsonRpcMessage);
    let hasSettled = false;
    for (const member of message as readonly JsonRpcMessage[]) hasSettled = this.#settle(member) || hasSettled;
    return hasSettled;
  }

  /** Calls back as soon as no request waits, at once if none does. */
  whenNone(fn: () => void): void {
    if (this.#lengths.size === 0) fn();
    else this.#onNone = fn;
  }

  #count(message: unknown, length: number): void {
    if (typeof message !== 'object' || message === null) return;
    const { id, method, params } = message as AnyMessage;
    if (typeof method !== 'string') return;
    // A cancelled request need not be answered.
    if (id === undefined) {
      if (method === 'notifications/cancelled') this.#forget(params?.requestId);
    } else if (isRequestId(id) && this.#lengths.size < MAX_COUNTED && !this.#lengths.has(id)) {
      this.#lengths.set(id, length);
      this.#bytes += length;
    }
  }

  #settle(message: JsonRpcMessage): boolean {
    const { id, method } = message as AnyMessage;
    return method === undefined && this.#forget(id);
  }

  #forget(id: unknown): boolean {
    const length = this.#lengths.get(id);
    if (length === undefined) return false;
    this.#lengths.delete(id);
    this.#bytes -= length;
    if (this.#lengths.size === 0) {
      this.#bytes = 0;
      this.#onNone?.();
    }
    return true;
  }
}

/** A peer whose requests are never answered, whatever they are, must not fill the memory. */
const MAX_COUNTED = 20_000;
