/** A `MessageBus` within one process. */

import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { BusMessage, MessageBus } from './contracts/message-bus.ts';

/** One subscription. Each has an object of its own, because the same function may subscribe twice. */
interface Subscriber {
  readonly onMessage: (message: BusMessage) => void;
}

/**
 * A `MessageBus` for one process. Calls subscribers synchronously within `publish`, in the order of subscription.
 *
 * Fulfils the guarantees B1 to B6 of `MessageBus`, and never has a gap. `close` removes all subscribers. A message on a topic without subscribers is dropped.
 */
export class MemoryMessageBus implements MessageBus {
  readonly #topics = new Map<string, Set<Subscriber>>();
  readonly #waiting: BusMessage[] = [];
  readonly #onError: (error: unknown) => void;

  #isDelivering = false;

  /** @param options.onError Called with the error that a subscriber threw. @default the error is ignored */
  constructor(options: { readonly onError?: (error: unknown) => void } = {}) {
    this.#onError = options.onError ?? (() => undefined);
  }

  publish(message: BusMessage): Promise<void> {
    if (this.#topics.has(message.topic)) this.#waiting.push(message);
    // A message that a subscriber publishes waits until the current one is delivered, so all subscribers see the same order.
    if (!this.#isDelivering) this.#deliverWaiting();
    return resolvedPromise;
  }

  /** Subscribes at once: messages that are published before the promise has resolved arrive too. */
  subscribe(topic: string, onMessage: (message: BusMessage) => void): Promise<() => void> {
    const subscribers = this.#topics.get(topic) ?? new Set();
    this.#topics.set(topic, subscribers);
    const subscriber: Subscriber = { onMessage };
    subscribers.add(subscriber);
    return Promise.resolve(() => {
      subscribers.delete(subscriber);
      if (subscribers.size === 0 && this.#topics.get(topic) === subscribers) this.#topics.delete(topic);
    });
  }

  close(): Promise<void> {
    for (const subscribers of this.#topics.values()) subscribers.clear();
    this.#waiting.length = 0;
    this.#topics.clear();
    return resolvedPromise;
  }

  #deliverWaiting(): void {
    this.#isDelivering = true;
    try {
      for (let message = this.#waiting.shift(); message !== undefined; message = this.#waiting.shift()) {
        const subscribers = this.#topics.get(message.topic) ?? new Set();
        // A copy, so a subscription made during delivery does not get this message.
        for (const subscriber of [...subscribers]) if (subscribers.has(subscriber)) this.#deliver(subscriber, message);
      }
    } finally {
      this.#isDelivering = false;
    }
  }

  #deliver({ onMessage }: Subscriber, message: BusMessage): void {
    try {
      onMessage(message);
    } catch (error) {
      this.#onError(error);
    }
  }
}
