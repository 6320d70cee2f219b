/** Who in this process listens to which topic of the message bus. The bus is listened to once a topic, however many ask. */

import type { BusMessage, MessageBus, Principal } from '@mortise/protocol/contracts';

/** Somebody who is told events. */
export interface TopicListener {
  /** Events that are meant for one principal reach its listeners alone. */
  readonly principal: Principal;
  onEvent(event: BusMessage): void;
}

interface Topic {
  readonly listeners: Set<TopicListener>;
  readonly unsubscribe: () => void;
}

export class Topics {
  readonly #bus: MessageBus;
  readonly #topics = new Map<string, Topic>();

  constructor(bus: MessageBus) {
    this.#bus = bus;
  }

  /** Whether anybody here listens to a topic. */
  has(name: string): boolean {
    return this.#topics.has(name);
  }

  add(name: string, listener: TopicListener): void {
    let topic = this.#topics.get(name);
    if (!topic) {
      const listeners = new Set<TopicListener>();
      topic = { listeners, unsubscribe: this.#bus.subscribe(name, (event) => tell(listeners, event)) };
      this.#topics.set(name, topic);
    }
    topic.listeners.add(listener);
  }

  delete(name: string, listener: TopicListener): void {
    const topic = this.#topics.get(name);
    if (!topic?.listeners.delete(listener) || topic.listeners.size > 0) return;
    this.#topics.delete(name);
    topic.unsubscribe();
  }
}

function tell(listeners: ReadonlySet<TopicListener>, event: BusMessage): void {
  for (const listener of listeners) {
    if (event.principal === undefined || event.principal === listener.principal) listener.onEvent(event);
  }
}
