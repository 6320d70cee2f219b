/** `@mortise/transport-testkit/message-bus`: test cases for the guarantees B1 to B5 of a `MessageBus`. */

import type { BusMessage, MessageBus } from '@mortise/protocol/contracts';
import { check, checkEqual, turns, within } from './check.ts';
import type { KitCase, KitSubject } from './kit-case.ts';

/** What the `MessageBus` cases test: a bus, and with the trait `shared` a second bus object over the same backend. */
export interface MessageBusSubject extends KitSubject {
  readonly bus: MessageBus;
  /** For implementations that declare the trait `shared`: the same bus, as another machine would open it. */
  readonly other?: MessageBus;
}

/** A test case for one guarantee of a `MessageBus`. */
export type MessageBusCase = KitCase<MessageBusSubject>;

/** Subscribes to a topic of a message bus and collects the messages that arrive. */
class Subscriber {
  readonly messages: BusMessage[] = [];
  readonly #waiters = new Set<() => void>();
  readonly unsubscribe: () => void;

  constructor(bus: MessageBus, topic: string) {
    this.unsubscribe = bus.subscribe(topic, (message) => {
      this.messages.push(message);
      for (const wake of this.#waiters) wake();
    });
  }

  get payloads(): readonly unknown[] {
    return this.messages.map((message) => message.payload);
  }

  async has(count: number): Promise<void> {
    while (this.messages.length < count) {
      const arrived = new Promise<void>((resolve) => this.#waiters.add(resolve));
      await within(arrived, () => `${count} messages should arrive, but only ${this.messages.length} did`);
      this.#waiters.clear();
    }
  }
}

async function reachesEverySubscriber(publisher: MessageBus, reader: MessageBus): Promise<void> {
  const subscribers = [new Subscriber(reader, 'a'), new Subscriber(reader, 'a'), new Subscriber(reader, 'b')];
  // A bus over a network subscribes in the background: wait until it has.
  await turns(20);
  await publisher.publish({ topic: 'a', payload: 1 });
  await publisher.publish({ topic: 'b', payload: 2 });
  await Promise.all(subscribers.map((subscriber) => subscriber.has(1)));
  await turns(20);
  checkEqual(
    subscribers.map((subscriber) => subscriber.payloads),
    [[1], [1], [2]],
    'What the subscribers of a, a and b receive',
  );
}

/** Test cases for the guarantees of a `MessageBus`. The id of a case, such as B1.1, begins with the id of its guarantee. */
export const messageBusCases: readonly MessageBusCase[] = [
  { id: 'B1.1', title: 'delivers a message once to every subscriber of its topic', run: ({ bus }) => reachesEverySubscriber(bus, bus) },
  {
    id: 'B1.2',
    title: 'delivers a message once to subscribers on another machine',
    needs: ['shared'],
    run: ({ bus, other }) => {
      check(other !== undefined, 'A subject with the trait "shared" should have another bus');
      return reachesEverySubscriber(bus, other);
    },
  },
  {
    id: 'B1.3',
    title: 'does not deliver messages published before the subscription',
    async run({ bus }) {
      await bus.publish({ topic: 'a', payload: 'early' });
      const subscriber = new Subscriber(bus, 'a');
      await turns(20);
      await bus.publish({ topic: 'a', payload: 'late' });
      await subscriber.has(1);
      checkEqual(subscriber.payloads, ['late'], 'What a subscriber receives');
    },
  },
  {
    id: 'B1.4',
    title: 'delivers messages unchanged, on topics of any name',
    async run({ bus }) {
      const topics = ['tools/list_changed', 'resource:file:///ä b?c=*#d', 'task:__proto__', 'constructor'];
      const messages = topics.map((topic) => ({ topic, principal: `issuer|${topic}`, payload: { list: [1, 'zwei', null], topic } }));
      const subscribers = topics.map((topic) => new Subscriber(bus, topic));
      await turns(20);
      for (const message of messages) await bus.publish(message);
      await Promise.all(subscribers.map((subscriber) => subscriber.has(1)));
      checkEqual(
        subscribers.map((subscriber) => subscriber.messages),
        messages.map((message) => [message]),
        'What arrives on each topic',
      );
    },
  },
  {
    id: 'B2.1',
    title: "keeps the order of one publisher's messages on one topic",
    async run({ bus }) {
      const subscriber = new Subscriber(bus, 'a');
      await turns(20);
      const numbers = Array.from({ length: 200 }, (_, n) => n);
      await Promise.all(numbers.map((payload) => bus.publish({ topic: 'a', payload })));
      await subscriber.has(200);
      checkEqual(subscriber.payloads, numbers, 'The order of arrival');
    },
  },
  {
    id: 'B3.1',
    title: 'resolves publish without waiting for subscribers, also if there are none',
    async run({ bus }) {
      bus.subscribe('a', (() => new Promise(() => undefined)) as () => void);
      await turns(20);
      await within(bus.publish({ topic: 'a' }), 'publish should resolve although a subscriber never finishes');
      await within(bus.publish({ topic: 'nobody' }), 'publish should resolve without subscribers');
    },
  },
  {
    id: 'B4.1',
    title: 'continues when a subscriber throws',
    async run({ bus }) {
      const before = new Subscriber(bus, 'a');
      bus.subscribe('a', () => {
        throw new Error('The test makes this subscriber throw');
      });
      const after = new Subscriber(bus, 'a');
      await turns(20);
      await bus.publish({ topic: 'a', payload: 1 });
      await bus.publish({ topic: 'a', payload: 2 });
      await Promise.all([before.has(2), after.has(2)]);
      checkEqual(
        [before.payloads, after.payloads],
        [
          [1, 2],
          [1, 2],
        ],
        'What the subscribers beside it receive',
      );
    },
  },
  {
    id: 'B5.1',
    title: 'delivers nothing after unsubscribe, which may be called twice',
    async run({ bus }) {
      const leaving = new Subscriber(bus, 'a');
      const staying = new Subscriber(bus, 'a');
      await turns(20);
      await bus.publish({ topic: 'a', payload: 1 });
      await Promise.all([leaving.has(1), staying.has(1)]);
      leaving.unsubscribe();
      leaving.unsubscribe();
      await bus.publish({ topic: 'a', payload: 2 });
      await staying.has(2);
      checkEqual(leaving.payloads, [1], 'What arrives around unsubscribe');
    },
  },
  {
    id: 'B5.2',
    title: 'ends only one of two subscriptions of the same function',
    async run({ bus }) {
      const payloads: unknown[] = [];
      const onMessage = (message: BusMessage): void => void payloads.push(message.payload);
      const unsubscribe = bus.subscribe('a', onMessage);
      bus.subscribe('a', onMessage);
      const last = new Subscriber(bus, 'a');
      await turns(20);
      unsubscribe();
      unsubscribe();
      await bus.publish({ topic: 'a', payload: 1 });
      await last.has(1);
      await turns(5);
      checkEqual(payloads, [1], 'What the other subscription receives');
    },
  },
  {
    id: 'B5.3',
    title: 'skips no subscriber when another unsubscribes during delivery',
    async run({ bus }) {
      let count = 0;
      const unsubscribe = bus.subscribe('a', () => {
        count++;
        unsubscribe();
      });
      const next = new Subscriber(bus, 'a');
      await turns(20);
      await bus.publish({ topic: 'a', payload: 1 });
      await bus.publish({ topic: 'a', payload: 2 });
      await next.has(2);
      checkEqual([count, next.payloads], [1, [1, 2]], 'What the one that leaves and the next one receive');
    },
  },
];
