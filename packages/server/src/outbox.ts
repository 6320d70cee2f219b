/** The notifications that one listener has not taken yet: bounded, and equal ones merged. */

import type { JsonRpcNotification } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';

/** What an outbox writes to, and what it does when that is too slow. */
export interface OutboxTarget {
  send(notification: JsonRpcNotification): Promise<void>;
  /** More waits than may wait. What waited is dropped. */
  onOverflow(): void;
}

/**
 * Sends notifications one after the other. While the transport is full they wait; of those with the same key only the newest
 * is kept, so a slow listener costs no more than what it listens to.
 */
export class Outbox {
  readonly #target: OutboxTarget;
  readonly #maxWaiting: number;
  #waiting: Map<unknown, JsonRpcNotification> | undefined;
  #isSending = false;

  constructor(target: OutboxTarget, maxWaiting: number) {
    this.#target = target;
    this.#maxWaiting = maxWaiting;
  }

  /** @param key Equal for notifications of which the newest says it all; undefined for one that must not be merged. */
  push(notification: JsonRpcNotification, key: string | undefined): void {
    if (!this.#isSending) {
      this.#send(notification);
      return;
    }
    const waiting = (this.#waiting ??= new Map());
    const id = key ?? notification;
    // Set anew, so that the newest stands where it was last told.
    waiting.delete(id);
    if (waiting.size >= this.#maxWaiting) {
      waiting.clear();
      this.#target.onOverflow();
      return;
    }
    waiting.set(id, notification);
  }

  clear(): void {
    this.#waiting = undefined;
  }

  #send(notification: JsonRpcNotification): void {
    const sent = this.#target.send(notification);
    if (sent === resolvedPromise) return;
    this.#isSending = true;
    const onSent = (): void => this.#sendNext();
    sent.then(onSent, onSent);
  }

  #sendNext(): void {
    this.#isSending = false;
    for (const [key, notification] of this.#waiting ?? []) {
      this.#waiting?.delete(key);
      this.#send(notification);
      if (this.#isSending) return;
    }
  }
}
