/** A bounded queue of notifications for a client that reads slowly. Of notifications with the same key only the newest is kept. */

import type { JsonRpcNotification } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';

/** How many notifications one `Outbox` may hold. */
const MAX_WAITING = 1024;

interface Target {
  send(notification: JsonRpcNotification): Promise<void>;
}

/** Sends notifications one after the other. While the transport is full they are queued. Of several with the same key only the newest is kept. */
export class Outbox {
  readonly #target: Target;
  readonly #onOverflow: (() => void) | undefined;
  readonly #waiting = new Map<unknown, JsonRpcNotification>();
  #isSending = false;

  /** @param onOverflow Called when more than 1,024 notifications would be queued. The queued ones are dropped. */
  constructor(target: Target, onOverflow?: () => void) {
    this.#target = target;
    this.#onOverflow = onOverflow;
  }

  /** @param key The notification replaces a queued one with the same key. Undefined for a notification that must always be sent. */
  push(notification: JsonRpcNotification, key: string | undefined): void {
    if (!this.#isSending) return this.#sendNow(notification);
    const id = key ?? notification;
    // Deleted and set again, so that the order is by time.
    this.#waiting.delete(id);
    if (this.#waiting.size >= MAX_WAITING) {
      this.clear();
      this.#onOverflow?.();
    } else this.#waiting.set(id, notification);
  }

  clear(): void {
    this.#waiting.clear();
  }

  /** Sends all queued notifications now, even if the transport is full. */
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
