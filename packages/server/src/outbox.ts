/** Notifications that wait for a slow reader: bounded, and those of the same key merged. */

import type { JsonRpcNotification } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';

/** How many notifications may wait for a slow listener. */
const MAX_WAITING = 1024;

interface Target {
  send(notification: JsonRpcNotification): Promise<void>;
}

/**
 * Sends notifications one after the other. While the transport is full they wait; of those with the same key only the newest
 * is kept, so a slow reader costs no more than the keys that it may get.
 */
export class Outbox {
  readonly #target: Target;
  readonly #onOverflow: (() => void) | undefined;
  readonly #waiting = new Map<unknown, JsonRpcNotification>();
  #isSending = false;

  /** @param onOverflow Called when more than 1,024 would wait. What waited is dropped. */
  constructor(target: Target, onOverflow?: () => void) {
    this.#target = target;
    this.#onOverflow = onOverflow;
  }

  /** @param key Equal for notifications of which the newest says it all; undefined for one that must not be merged. */
  push(notification: JsonRpcNotification, key: string | undefined): void {
    if (!this.#isSending) return this.#sendNow(notification);
    const id = key ?? notification;
    // Set anew, so that it is sent in the order of time.
    this.#waiting.delete(id);
    if (this.#waiting.size >= MAX_WAITING) {
      this.clear();
      this.#onOverflow?.();
    } else this.#waiting.set(id, notification);
  }

  clear(): void {
    this.#waiting.clear();
  }

  /** Sends what waits, without waiting any longer. */
  flush(): void {
    const waiting = [...this.#waiting.values()];
    this.clear();
    for (const notification of waiting) this.#sendNow(notification);
  }

  #sendNow(notification: JsonRpcNotification): void {
    const sent = this.#target.send(notification);
    if (sent === resolvedPromise) return;
    this.#isSending = true;
    const onSent = (): void => this.#sendNext();
    sent.then(onSent, onSent);
  }

  #sendNext(): void {
    this.#isSending = false;
    for (const [key, notification] of this.#waiting) {
      this.#waiting.delete(key);
      this.#sendNow(notification);
      if (this.#isSending) return;
    }
  }
}
