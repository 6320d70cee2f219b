/** Each way to break a promise of a bus or a store must fail a case of that promise. */

import { MemoryMessageBus } from '@mortise/protocol';
import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { BusMessage, EventStore, EventTerms, MessageBus, SessionStore } from '@mortise/protocol/contracts';
import { MemoryEventStore, MemorySessionStore } from '@mortise/protocol/edge';
import { type KitCase, type KitSubject, runCases, setPatience } from '@mortise/transport-testkit';
import { eventStoreCases } from '@mortise/transport-testkit/event-store';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { messageBusCases } from '@mortise/transport-testkit/message-bus';
import { sessionStoreCases } from '@mortise/transport-testkit/session-store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

type Breaker<T> = (real: T) => Partial<T>;

/** A real part with some of its members replaced. */
function breakIt<T extends object>(real: T, breaker: Breaker<T>): T {
  const broken = breaker(real);
  return new Proxy(real, {
    get(target, key) {
      const value: unknown = Reflect.get(Object.hasOwn(broken, key) ? broken : target, key);
      return typeof value === 'function' ? value.bind(Object.hasOwn(broken, key) ? broken : target) : value;
    },
  });
}

async function failingIds<S extends KitSubject>(cases: readonly KitCase<S>[], id: string, create: () => S): Promise<readonly string[]> {
  const results = await runCases(
    cases.filter((kitCase) => kitCase.id === id),
    { create: async () => create(), traits: { shared: true, gaps: true, claims: true, maxEvents: true, maxAge: true } },
  );
  return results.filter((result) => result.outcome === 'failed').map((result) => result.id);
}

const close = async (): Promise<void> => undefined;

beforeAll(() => setPatience(500));
afterAll(() => setPatience(5000));

const buses: readonly (readonly [string, string, Breaker<MessageBus>])[] = [
  ['delivers twice', 'B1.1', (bus) => ({ publish: async (message) => void (await bus.publish(message), await bus.publish(message)) })],
  ['keeps to its own machine', 'B1.2', () => ({})],
  [
    'replays what was published before',
    'B1.3',
    (bus) => {
      let last: BusMessage | undefined;
      return {
        publish: (message) => bus.publish((last = message)),
        async subscribe(topic, onMessage) {
          if (last) onMessage(last);
          return bus.subscribe(topic, onMessage);
        },
      };
    },
  ],
  [
    'loses the principal',
    'B1.4',
    (bus) => ({ publish: ({ topic, payload }) => bus.publish(payload === undefined ? { topic } : { topic, payload }) }),
  ],
  ['loses what is published while it is cut off', 'B1.5', () => ({})],
  [
    'reverses messages',
    'B2.1',
    (bus) => {
      const held: BusMessage[] = [];
      return {
        async publish(message) {
          held.push(message);
          await Promise.resolve();
          const last = held.pop();
          if (last) await bus.publish(last);
        },
      };
    },
  ],
  [
    'waits for subscribers',
    'B3.1',
    () => {
      const subscribers: ((message: BusMessage) => unknown)[] = [];
      return {
        publish: async (message) => void (await Promise.all(subscribers.map((subscriber) => subscriber(message)))),
        subscribe: async (_, onMessage) => (subscribers.push(onMessage), () => undefined),
      };
    },
  ],
  [
    'stops at a subscriber that throws',
    'B4.1',
    () => {
      const subscribers: ((message: BusMessage) => void)[] = [];
      return {
        async publish(message) {
          for (const subscriber of subscribers) subscriber(message);
        },
        subscribe: async (_, onMessage) => (subscribers.push(onMessage), () => undefined),
      };
    },
  ],
  [
    'never unsubscribes',
    'B5.1',
    (bus) => ({ subscribe: async (topic, onMessage) => (await bus.subscribe(topic, onMessage), () => undefined) }),
  ],
  [
    'knows subscriptions by their function',
    'B5.2',
    (bus) => {
      const ends = new Map<unknown, (() => void)[]>();
      return {
        async subscribe(topic, onMessage) {
          ends.set(onMessage, [...(ends.get(onMessage) ?? []), await bus.subscribe(topic, onMessage)]);
          return () => ends.get(onMessage)?.forEach((end) => end());
        },
      };
    },
  ],
  [
    'skips the next when one leaves',
    'B5.3',
    () => {
      const subscribers: ((message: BusMessage) => void)[] = [];
      return {
        async publish(message) {
          for (let index = 0; index < subscribers.length; index++) subscribers[index]?.(message);
        },
        subscribe: async (_, onMessage) => (subscribers.push(onMessage), () => void subscribers.splice(subscribers.indexOf(onMessage), 1)),
      };
    },
  ],
  [
    'cuts topics',
    'B6.1',
    (bus) => ({
      publish: (message) => bus.publish({ ...message, topic: message.topic.slice(0, 1000) }),
      subscribe: (topic, onMessage) => bus.subscribe(topic.slice(0, 1000), onMessage),
    }),
  ],
];

describe('a broken message bus', () => {
  it.for(buses)('that %s fails %s', async ([, id, breaker]) => {
    const create = () => ({
      bus: breakIt<MessageBus>(new MemoryMessageBus(), breaker),
      other: new MemoryMessageBus(),
      cut: close,
      mend: close,
      close,
    });
    expect(await failingIds(messageBusCases, id, create)).toEqual([id]);
  });
});

const sessionStores: readonly (readonly [string, string, Breaker<SessionStore>])[] = [
  ['finds nothing', 'S1.1', () => ({ get: async () => undefined })],
  [
    'overwrites',
    'S1.2',
    (store) => ({
      put: async (record, version, ttl) => (version === 0 && (await store.delete(record.id)), store.put(record, version, ttl)),
    }),
  ],
  [
    'ignores versions',
    'S1.3',
    (store) => ({ put: async (record, _, ttl) => store.put(record, (await store.get(record.id, ttl))?.version ?? 0, ttl) }),
  ],
  [
    'compares and sets in two steps',
    'S1.4',
    (store) => ({
      async put(record, expected, ttl) {
        if (((await store.get(record.id, ttl))?.version ?? 0) !== expected) return { isWritten: false };
        await store.put(record, (await store.get(record.id, ttl))?.version ?? 0, ttl);
        return { isWritten: true };
      },
    }),
  ],
  ['does not say what is stored', 'S1.5', (store) => ({ put: async (...args) => ({ isWritten: (await store.put(...args)).isWritten }) })],
  ['finds what has expired', 'S2.1', (store) => ({ put: (record, version) => store.put(record, version, Infinity) })],
  ['does not keep what is read', 'S2.2', (store) => ({ get: async (id, ttl) => (await store.put({ id } as never, -1, ttl)).present })],
  [
    'hands out what it holds',
    'S3.1',
    (store) => {
      let held: Awaited<ReturnType<SessionStore['get']>>;
      return { get: async (id, ttl) => (held ??= await store.get(id, ttl)) };
    },
  ],
  ['deletes too much as it writes', 'S4.1', (store) => ({ put: (...args) => (void store.delete('c'), store.put(...args)) })],
  ['never deletes', 'S4.2', () => ({ delete: async () => undefined })],
];

describe('a broken session store', () => {
  it.for(sessionStores)('that %s fails %s', async ([, id, breaker]) => {
    const create = () => {
      const clock = new FakeClock();
      return { store: breakIt<SessionStore>(new MemorySessionStore({ clock }), breaker), pass: (ms: number) => clock.advance(ms), close };
    };
    expect(await failingIds(sessionStoreCases, id, create)).toEqual([id]);
  });
});

/** Numbers a stream from the beginning when it was deleted: an id of before then means another event. */
class RestartingStore implements EventStore {
  #stores = new Map<string, MemoryEventStore>();
  append: EventStore['append'] = (session, stream, message) => {
    const key = JSON.stringify([session, stream]);
    const store = this.#stores.get(key) ?? new MemoryEventStore({ maxEventsPerStream: 100 });
    this.#stores.set(key, store);
    return store.append(session, stream, message);
  };
  replay: EventStore['replay'] = (session, id) =>
    this.#stores.get(JSON.stringify([session, id.slice(0, id.lastIndexOf('~'))]))?.replay(session, id) ?? Promise.resolve(undefined);
  delete: EventStore['delete'] = async (session, stream) => {
    for (const key of [...this.#stores.keys()]) {
      const [ownSession, ownStream] = JSON.parse(key) as [string, string];
      if (ownSession === session && (stream === undefined || ownStream === stream)) this.#stores.delete(key);
    }
  };
}

const eventStores: readonly (readonly [string, string, Breaker<EventStore>])[] = [
  [
    'gives one id to all',
    'V1.1',
    (store) => ({ append: async (session, stream, message) => (await store.append(session, stream, message), 'id') }),
  ],
  [
    'takes plain names only',
    'V1.2',
    (store) => ({ append: (session, stream, message) => store.append(session, stream.replaceAll(/\W/g, ''), message) }),
  ],
  ['starts counting again', 'V1.3', () => new RestartingStore()],
  [
    'replays other streams too',
    'V2.1',
    (store) => {
      const ids = new Map<string, string>();
      return {
        async append(session, stream, message) {
          const id = await store.append(session, 'all', message);
          ids.set(id ?? '', stream);
          return id;
        },
      };
    },
  ],
  [
    'loses the order of appends',
    'V2.2',
    (store) => {
      let count = 0;
      return {
        async append(session, stream, message) {
          if (count++ % 3 === 1) await new Promise((resolve) => setTimeout(resolve, 0));
          return store.append(session, stream, message);
        },
      };
    },
  ],
  [
    'forgets priming events',
    'V2.3',
    (store) => ({ append: async (session, stream, message) => (message ? store.append(session, stream, message) : '0') }),
  ],
  [
    'replays everything after an unknown id',
    'V3.1',
    (store) => ({ replay: async (session, id) => (await store.replay(session, id)) ?? { streamId: 'a', events: [] } }),
  ],
  ['keeps everything', 'V3.2', () => new MemoryEventStore({ maxEventsPerStream: 10_000 })],
  ['never ages', 'V3.3', () => ({})],
  ['never deletes', 'V3.4', () => ({ delete: async () => undefined })],
  [
    'takes events of anyone',
    'V4.1',
    (store) => {
      const owners = new Map<string, EventTerms>();
      return {
        async claim(session, stream, about) {
          const claimed = await store.claim?.(session, stream, about);
          if (claimed) owners.set(stream, claimed);
          return claimed;
        },
        append: async (session, stream, message) => store.append(session, stream, message, owners.get(stream)),
      };
    },
  ],
  [
    'gives all the same right',
    'V4.2',
    (store) => {
      const claims = new Map<string, ReturnType<NonNullable<EventStore['claim']>>>();
      return {
        async claim(session, stream, about) {
          const claimed = claims.get(stream) ?? store.claim?.(session, stream, about);
          if (claimed) claims.set(stream, claimed);
          return claimed;
        },
      };
    },
  ],
  [
    'knows no last event',
    'V4.3',
    (store) =>
      ({
        append: async (session: string, stream: string, message: JsonRpcMessage | undefined, terms?: EventTerms) =>
          terms ? store.append(session, stream, message, { epoch: terms.epoch }) : store.append(session, stream, message),
      }) as Partial<EventStore>,
  ],
  ['forgets what was said of a stream', 'V4.4', (store) => ({ claim: async (session, stream) => store.claim?.(session, stream) })],
  [
    'refuses an owner that it has forgotten',
    'V4.5',
    (store) => {
      const owners = new Map<string, number>();
      return {
        async claim(session, stream, about) {
          const claimed = await store.claim?.(session, stream, about);
          if (claimed) owners.set(stream, claimed.epoch);
          return claimed;
        },
        append: async (session, stream, message, terms) =>
          terms?.epoch === owners.get(stream) ? store.append(session, stream, message, terms) : undefined,
        async delete(session, stream) {
          if (stream !== undefined) owners.delete(stream);
          await store.delete(session, stream);
        },
      };
    },
  ],
];

const isWhole = (store: Partial<EventStore>): store is EventStore => store instanceof MemoryEventStore || store instanceof RestartingStore;

describe('a broken event store', () => {
  it.for(eventStores)('that %s fails %s', async ([, id, breaker]) => {
    const real: EventStore = new MemoryEventStore({ maxEventsPerStream: 100 });
    const create = () => {
      const broken = breaker(real);
      const store = isWhole(broken) ? broken : breakIt(real, () => broken);
      return { store, maxEvents: 100, age: () => undefined, close };
    };
    expect(await failingIds(eventStoreCases, id, create)).toEqual([id]);
  });
});
