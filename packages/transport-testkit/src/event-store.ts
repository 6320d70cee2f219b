/** `@mortise/transport-testkit/event-store`: test cases for the guarantees V1 to V4 of an `EventStore`. */

import type { JsonObject, JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { EventStore } from '@mortise/protocol/contracts';
import { check, checkEqual } from './check.ts';
import type { KitCase, KitSubject } from './kit-case.ts';

/** The object that the `EventStore` cases test: an empty store. */
export interface EventStoreSubject extends KitSubject {
  readonly store: EventStore;
  /** For stores that declare the trait `shared`: another store over the same data, as another machine or process would open it. */
  readonly other?: EventStore;
  /** For stores that declare the trait `maxEvents`: how many events of a stream (or of a session, or in total) the store keeps. */
  readonly maxEvents?: number;
  /** For stores that declare the trait `maxAge`: advances the store's clock until every stored event is too old to be kept. */
  age?(): void | Promise<void>;
}

/** A test case for one guarantee of an `EventStore`. */
export type EventStoreCase = KitCase<EventStoreSubject>;

function message(n: number): JsonRpcMessage {
  return { jsonrpc: '2.0', method: 'kit/event', params: { n } };
}

/** Appends to a stream that nobody has claimed. */
async function appendOne(store: EventStore, sessionId: string, streamId: string, event: JsonRpcMessage | undefined): Promise<string> {
  const id = await store.append(sessionId, streamId, event);
  check(id !== undefined, 'append should give an id');
  return id;
}

async function append(store: EventStore, sessionId: string, streamId: string, from: number, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let n = from; n < from + count; n++) ids.push(await appendOne(store, sessionId, streamId, message(n)));
  return ids;
}

/** The claim of a stream, by a store that declares the trait `claims`. */
async function claim(
  store: EventStore,
  streamId: string,
  about?: JsonObject,
): Promise<{ readonly epoch: number; readonly eventId: string }> {
  const claimed = await store.claim?.('s', streamId, about);
  check(claimed !== undefined, 'A stream that is not finished can be claimed');
  return claimed;
}

async function replayNumbers(
  store: EventStore,
  sessionId: string,
  lastEventId: string | undefined,
): Promise<readonly unknown[] | undefined> {
  check(lastEventId !== undefined, 'append should give an id');
  const replayed = await store.replay(sessionId, lastEventId);
  return replayed?.events.map((event) => (event.message && 'params' in event.message ? event.message.params?.['n'] : undefined));
}

/**
 * Test cases for the guarantees of an `EventStore`. The id of a case, such as V1.1, begins with the id of its guarantee.
 *
 * Traits that add cases: `maxEvents` and `maxAge` (the subject has the members of those names), `claims` (the store has `claim`).
 */
export const eventStoreCases: readonly EventStoreCase[] = [
  {
    id: 'V1.1',
    title: 'gives every event of a session a unique id that identifies its stream',
    async run({ store }) {
      const ids = [...(await append(store, 's', 'a', 0, 20)), ...(await append(store, 's', 'b', 0, 20))];
      checkEqual(new Set(ids).size, 40, 'The number of different ids');
      checkEqual((await store.replay('s', ids[3] ?? ''))?.streamId, 'a', 'The stream of an event of stream a');
      checkEqual((await store.replay('s', ids[23] ?? ''))?.streamId, 'b', 'The stream of an event of stream b');
    },
  },
  {
    id: 'V1.2',
    title: 'accepts any text as stream and session id',
    async run({ store }) {
      for (const name of ['__proto__', 'a:b', 'a_1', 'ä b/c?d', '-1']) {
        const [first] = await append(store, name, name, 0, 3);
        const replayed = await store.replay(name, first ?? '');
        checkEqual([replayed?.streamId, replayed?.events.length], [name, 2], `What is replayed of stream ${name}`);
      }
    },
  },
  {
    id: 'V1.3',
    title: 'reuses no event id after a stream was deleted',
    async run({ store }) {
      const before = await append(store, 's', 'a', 0, 3);
      await store.delete('s', 'a');
      const after = await append(store, 's', 'a', 3, 5);
      checkEqual(
        after.filter((id) => before.includes(id)),
        [],
        'The ids that came twice',
      );
    },
  },
  {
    id: 'V2.1',
    title: 'replays the later events of the same stream, in the order of append',
    async run({ store }) {
      const ids: string[] = [];
      for (let n = 0; n < 50; n++) {
        ids.push(...(await append(store, 's', 'a', n, 1)));
        await append(store, 's', 'b', 1000 + n, 1);
        await append(store, 'other', 'a', 2000 + n, 1);
      }
      checkEqual(
        await replayNumbers(store, 's', ids[9]),
        Array.from({ length: 40 }, (_, n) => n + 10),
        'What is replayed after event 9',
      );
      checkEqual(await replayNumbers(store, 's', ids[49]), [], 'What is replayed after the last event');
    },
  },
  {
    id: 'V2.2',
    title: 'keeps the order of concurrent appends',
    async run({ store }) {
      const first = await store.append('s', 'a', message(-1));
      await Promise.all(Array.from({ length: 50 }, (_, n) => store.append('s', 'a', message(n))));
      checkEqual(
        await replayNumbers(store, 's', first),
        Array.from({ length: 50 }, (_, n) => n),
        'The order of replay',
      );
    },
  },
  {
    id: 'V2.3',
    title: 'replays each event with the id from append, and a priming event without a message',
    async run({ store }) {
      const priming = await appendOne(store, 's', 'a', undefined);
      const second = await appendOne(store, 's', 'a', message(1));
      const third = await appendOne(store, 's', 'a', undefined);
      const replayed = await store.replay('s', priming);
      checkEqual(replayed?.events, [{ id: second, message: message(1) }, { id: third }], 'What is replayed after a priming event');
    },
  },
  {
    id: 'V3.1',
    title: 'replays nothing after an unknown id or an id of another session',
    async run({ store }) {
      const [first] = await append(store, 's', 'a', 0, 3);
      for (const id of ['', 'unknown', '__proto__', `${first}x`])
        checkEqual(await store.replay('s', id), undefined, `What is replayed after "${id}"`);
      checkEqual(await store.replay('other', first ?? ''), undefined, 'What is replayed to another session');
    },
  },
  {
    id: 'V3.2',
    title: 'drops old events by count, and does not replay after a dropped one',
    needs: ['maxEvents'],
    async run({ store, maxEvents }) {
      check(maxEvents !== undefined, 'A subject with the trait "maxEvents" should say how many');
      const ids = await append(store, 's', 'a', 0, maxEvents + 10);
      checkEqual(await replayNumbers(store, 's', ids[0]), undefined, 'What is replayed after the first event');
      checkEqual(await replayNumbers(store, 's', ids.at(-2)), [maxEvents + 9], 'What is replayed after the last but one');
    },
  },
  {
    id: 'V3.3',
    title: 'drops old events by age, and does not replay after a dropped one',
    needs: ['maxAge'],
    async run({ store, age }) {
      check(age !== undefined, 'A subject with the trait "maxAge" should let time pass');
      const [first] = await append(store, 's', 'a', 0, 3);
      await age();
      await append(store, 's', 'a', 3, 1);
      checkEqual(await replayNumbers(store, 's', first), undefined, 'What is replayed after an event that is too old');
    },
  },
  {
    id: 'V3.4',
    title: 'deletes one stream, or all streams of a session, and no others',
    async run({ store }) {
      const [a] = await append(store, 's', 'a', 0, 2);
      const [b] = await append(store, 's', 'b', 0, 2);
      const [c] = await append(store, 'other', 'a', 0, 2);
      await store.delete('s', 'a');
      checkEqual(await replayNumbers(store, 's', a), undefined, 'What is replayed of a deleted stream');
      checkEqual(await replayNumbers(store, 's', b), [1], 'What is replayed of another stream');
      await store.delete('s');
      await store.delete('s');
      checkEqual(await replayNumbers(store, 's', b), undefined, 'What is replayed of a deleted session');
      checkEqual(await replayNumbers(store, 'other', c), [1], 'What is replayed of another session');
    },
  },
  {
    id: 'V4.1',
    title: 'takes events of the last owner of a stream alone',
    needs: ['claims'],
    async run({ store, other = store }) {
      const first = await claim(store, 'a');
      const before = await store.append('s', 'a', message(1), first);
      const second = await claim(other, 'a');
      checkEqual(await store.append('s', 'a', message(2), first), undefined, 'What an append of the former owner gives');
      const after = await other.append('s', 'a', message(3), second);
      check(before !== undefined && after !== undefined, 'An append of the owner should give an id');
      checkEqual(
        (await other.replay('s', first.eventId))?.events,
        [{ id: before, message: message(1) }, { id: second.eventId }, { id: after, message: message(3) }],
        'What is replayed from the first claim on',
      );
      checkEqual(await store.append('s', 'a', message(4)), undefined, 'What an append gives that names no owner');
    },
  },
  {
    id: 'V4.2',
    title: 'lets exactly one of many concurrent claims be the last, and gives each a right of its own',
    needs: ['claims'],
    async run({ store, other = store }) {
      const claims = await Promise.all(Array.from({ length: 20 }, (_, n) => claim(n % 2 === 0 ? store : other, 'a')));
      checkEqual(new Set(claims.map(({ epoch }) => epoch)).size, 20, 'The number of different epochs');
      const appended = await Promise.all(claims.map((terms) => store.append('s', 'a', message(1), terms)));
      checkEqual(appended.filter((id) => id !== undefined).length, 1, 'The number of owners that can append');
    },
  },
  {
    id: 'V4.3',
    title: 'takes nothing after the last event of a stream, and gives it to no other owner',
    needs: ['claims'],
    async run({ store, other = store }) {
      const terms = await claim(store, 'a');
      checkEqual((await other.replay('s', terms.eventId))?.isFinished, false, 'Whether a stream is finished before its last event');
      await store.append('s', 'a', message(1), { ...terms, isLast: true });
      checkEqual(await store.append('s', 'a', message(2), terms), undefined, 'What an append after the last event gives');
      checkEqual(await other.claim?.('s', 'a'), undefined, 'What a claim after the last event gives');
      const replayed = await other.replay('s', terms.eventId);
      checkEqual([replayed?.isFinished, replayed?.events.length], [true, 1], 'Whether it is finished then, and how many events it has');
    },
  },
  {
    id: 'V4.4',
    title: 'keeps what the first owner said of a stream, until the stream is deleted',
    needs: ['claims'],
    async run({ store, other = store }) {
      const { eventId } = await claim(store, 'a', { node: 'one', requests: [1, 'x'] });
      await claim(other, 'a', { node: 'two' });
      checkEqual((await store.replay('s', eventId))?.about, { node: 'one', requests: [1, 'x'] }, 'What was said of it');
      await store.delete('s', 'a');
      const again = await claim(store, 'a');
      const replayed = await store.replay('s', again.eventId);
      checkEqual([replayed?.about, replayed?.isFinished], [undefined, false], 'What is known of a new stream of this name');
      const [unclaimed] = await append(store, 's', 'b', 0, 1);
      const plain = await store.replay('s', unclaimed ?? '');
      checkEqual([plain?.about, plain?.isFinished], [undefined, undefined], 'What is known of a stream that nobody claimed');
    },
  },
  {
    id: 'V4.5',
    title: 'takes events of an owner whose claim was dropped, until another claims the stream',
    needs: ['claims'],
    async run({ store, other = store }) {
      const first = await claim(store, 'a');
      // As if the claim had been dropped by its age.
      await store.delete('s', 'a');
      check((await store.append('s', 'a', message(1), first)) !== undefined, 'An append of the owner should give an id');
      checkEqual(await other.append('s', 'a', message(2)), undefined, 'What an append gives that names no owner');
      await store.delete('s', 'a');
      const second = await claim(other, 'a');
      check(second.epoch !== first.epoch, 'A new owner should have another epoch than one that was dropped');
      checkEqual(await store.append('s', 'a', message(3), first), undefined, 'What an append of the former owner gives');
    },
  },
];
