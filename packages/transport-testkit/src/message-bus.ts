/** `@mortise/transport-testkit/message-bus`: test cases for the guarantees B1 to B6 of a `MessageBus`. */

import type { BusMessage, MessageBus } from '@mortise/protocol/contracts';
import { check, checkEqual, turns, within } from './check.ts';
import type { KitCase, KitSubject } from './kit-case.ts';

/** What the `MessageBus` cases test: a bus, and with the trait `shared` a second bus object over the same backend. */
export interface MessageBusSubject extends KitSubject {
  readonly bus: MessageBus;
  /** For implementations that declare the trait `shared`: the same bus, as another machine would open it. */
  readonly other?: MessageBus;
  /** For implementations that declare the trait `gaps`: cuts `bus` off its backend, so that messages cannot reach it. */
  cut?(): Promise<void>;
  /** For implementations that declare the trait `gaps`: ends what `cut` began. Need not wait until `bus` is connected again. */
  mend?(): Promise<void>;
}

/** A test case for one guarantee of a `MessageBus`. */
export type MessageBusCase = KitCase<MessageBusSubject>;

/** Subscribes to a topic of a message bus and collects the messages that arrive. */
class Subscriber {
  readonly messages: BusMessage[] = [];
  readonly #waiters = new Set<() => void>();
  gaps = 0;
  unsubscribe: () => void = () => undefined;

  static async open(bus: MessageBus, topic: string): Promise<Subscriber> {
    const subscriber = new Subscriber();
    const wake = (): void => {
      for (const each of subscriber.#waiters) each();
    };
    const onMessage = (message: BusMessage): void => {
      subscriber.messages.push(message);
      wake();
    };
    const onGap = (): void => {
      subscriber.gaps++;
      wake();
    };
    subscriber.unsubscribe = await within(bus.subscribe(topic, onMessage, onGap), 'subscribe should resolve');
    return subscriber;
  }

  get payloads(): readonly unknown[] {
    return this.messages.map((message) => message.payload);
  }

  async has(count: number): Promise<void> {
    while (this.messages.length < count && this.gaps === 0) {
      const arrived = new Promise<void>((resolve) => this.#waiters.add(resolve));
      await within(arrived, () => `${count} messages should arrive, but only ${this.messages.length} did`);
      this.#waiters.clear();
    }
  }
}

function openAll(bus: MessageBus, topics: readonly string[]): Promise<readonly Subscriber[]> {
  return Promise.all(topics.map((topic) => Subscriber.open(bus, topic)));
}

async function reachesEverySubscriber(publisher: MessageBus, reader: MessageBus): Promise<void> {
  const subscribers = await openAll(reader, ['a', 'a', 'b']);
  for (const [topic, payload] of [
    ['a', 1],
    ['b', 2],
    ['a', 'end'],
    ['b', 'end'],
  ] as const)
    await publisher.publish({ topic, payload });
  await Promise.all(subscribers.map((subscriber) => subscriber.has(2)));
  await turns(20);
  checkEqual(
    subscribers.map((subscriber) => subscriber.payloads),
    [
      [1, 'end'],
      [1, 'end'],
      [2, 'end'],
    ],
    'What the subscribers of a, a and b receive',
  );
}

/**
 * Test cases for the guarantees of a `MessageBus`. The id of a case, such as B1.1, begins with the id of its guarantee.
 *
 * Traits that add cases: `shared` (the subject has `other`), and with it `gaps` (it has `cut` and `mend`).
 */
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
      const subscriber = await Subscriber.open(bus, 'a');
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
      const subscribers = await openAll(bus, topics);
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
    id: 'B1.5',
    title: 'delivers what was published while it was cut off, or reports a gap, and then delivers again',
    needs: ['shared', 'gaps'],
    async run({ bus, other, cut, mend }) {
      check(
        other !== undefined && cut !== undefined && mend !== undefined,
        'A subject with "shared" and "gaps" should have other, cut and mend',
      );
      const subscriber = await Subscriber.open(bus, 'a');
      await cut();
      await other.publish({ topic: 'a', payload: 1 });
      await mend();
      await subscriber.has(1);
      check(subscriber.gaps > 0 || subscriber.payloads[0] === 1, 'A subscriber should get the message, or hear of the gap');
      const begun = subscriber.messages.length;
      subscriber.gaps = 0;
      await other.publish({ topic: 'a', payload: 2 });
      await subscriber.has(begun + 1);
      checkEqual(subscriber.payloads.at(-1), 2, 'What arrives after the gap');
    },
  },
  {
    id: 'B2.1',
    title: "keeps the order of one publisher's messages on one topic",
    async run({ bus }) {
      const subscriber = await Subscriber.open(bus, 'a');
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
      await bus.subscribe('a', (() => new Promise(() => undefined)) as () => void);
      await within(bus.publish({ topic: 'a' }), 'publish should resolve although a subscriber never finishes');
      await within(bus.publish({ topic: 'nobody' }), 'publish should resolve without subscribers');
    },
  },
  {
    id: 'B4.1',
    title: 'continues when a subscriber throws',
    async run({ bus }) {
      const before = await Subscriber.open(bus, 'a');
      await bus.subscribe('a', () => {
        throw new Error('The test makes this subscriber throw');
      });
      const after = await Subscriber.open(bus, 'a');
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
      const leaving = await Subscriber.open(bus, 'a');
      const staying = await Subscriber.open(bus, 'a');
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
      const unsubscribe = await bus.subscribe('a', onMessage);
      await bus.subscribe('a', onMessage);
      const last = await Subscriber.open(bus, 'a');
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
      const unsubscribe = await bus.subscribe('a', () => {
        count++;
        unsubscribe();
      });
      const next = await Subscriber.open(bus, 'a');
      await bus.publish({ topic: 'a', payload: 1 });
      await bus.publish({ topic: 'a', payload: 2 });
      await next.has(2);
      checkEqual([count, next.payloads], [1, [1, 2]], 'What the one that leaves and the next one receive');
    },
  },
  {
    id: 'B6.1',
    title: 'delivers a payload of 1 MiB, on a topic of 2,000 characters',
    async run({ bus }) {
      const topics = ['x'.repeat(2000), `${'x'.repeat(2000)}y`];
      const [one, other] = await openAll(bus, topics);
      const payload = 'ä'.repeat(2 ** 19);
      for (const topic of topics.toReversed()) await bus.publish({ topic, payload: topic === topics[0] ? payload : 1 });
      await Promise.all([one?.has(1), other?.has(1)]);
      check(one?.payloads[0] === payload, 'A long payload should arrive as it was published');
      checkEqual(other?.payloads, [1], 'What arrives on a topic that begins like another');
    },
  },
];
