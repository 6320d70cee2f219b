/** `@mortise/transport-testkit/session-store`: test cases for the guarantees S1 to S4 of a `SessionStore`. */

import type { SessionPut, SessionRecord, SessionStore } from '@mortise/protocol/contracts';
import { check, checkEqual } from './check.ts';
import { HOUR_MS, type KitCase, pass, SHORT_MS, type TimedSubject } from './kit-case.ts';

/** The object that the `SessionStore` cases test: an empty store. */
export interface SessionStoreSubject extends TimedSubject {
  readonly store: SessionStore;
}

/** A test case for one guarantee of a `SessionStore`. */
export type SessionStoreCase = KitCase<SessionStoreSubject>;

type NewRecord = Omit<SessionRecord, 'version'>;

function record(more: Partial<NewRecord> = {}): NewRecord {
  return { id: 'one', principal: 'issuer|ada', state: { layout: 1, level: 'info' }, ...more };
}

/** Writes a session that does not expire in a test case. */
function put(store: SessionStore, more: Partial<NewRecord>, version: number): Promise<SessionPut> {
  return store.put(record(more), version, HOUR_MS);
}

async function isWritten(store: SessionStore, more: Partial<NewRecord>, version: number): Promise<boolean> {
  return (await put(store, more, version)).isWritten;
}

function find(store: SessionStore, id = 'one'): Promise<SessionRecord | undefined> {
  return store.get(id, HOUR_MS);
}

/** Test cases for the guarantees of a `SessionStore`. The id of a case, such as S1.1, begins with the id of its guarantee. */
export const sessionStoreCases: readonly SessionStoreCase[] = [
  {
    id: 'S1.1',
    title: 'finds a record under its id only, with version 1',
    async run({ store }) {
      const whole = record({ id: '__proto__', state: { layout: 3, list: [1, { a: null }], text: 'ä\n\u2028' } });
      checkEqual(await store.put(whole, 0, HOUR_MS), { isWritten: true }, 'What a first put gives');
      checkEqual(await find(store, '__proto__'), { ...whole, version: 1 }, 'What is found');
      checkEqual(await find(store, 'two'), undefined, 'What is found under another id');
      checkEqual(await find(store, 'constructor'), undefined, 'What is found under "constructor"');
    },
  },
  {
    id: 'S1.2',
    title: 'writes with expected version 0 only if no record is stored',
    async run({ store }) {
      await put(store, {}, 0);
      checkEqual(await isWritten(store, { principal: 'issuer|eve' }, 0), false, 'Whether a second put with version 0 writes');
      checkEqual((await find(store))?.principal, 'issuer|ada', 'The principal that stays');
    },
  },
  {
    id: 'S1.3',
    title: 'writes only if the expected version is the stored one, and increments it',
    async run({ store }) {
      checkEqual(await put(store, {}, 1), { isWritten: false }, 'What a put over what is not there gives');
      await put(store, {}, 0);
      checkEqual(await isWritten(store, { state: { layout: 1, level: 'debug' } }, 1), true, 'Whether a put over version 1 writes');
      checkEqual(await isWritten(store, { state: { layout: 1, level: 'late' } }, 1), false, 'Whether another put over version 1 writes');
      const found = await find(store);
      checkEqual([found?.version, found?.state['level']], [2, 'debug'], 'The version and the state that are stored');
    },
  },
  {
    id: 'S1.4',
    title: 'lets exactly one of many concurrent writers succeed',
    async run({ store }) {
      await put(store, {}, 0);
      const outcomes = await Promise.all(Array.from({ length: 20 }, (_, n) => isWritten(store, { state: { layout: 1, n } }, 1)));
      checkEqual(outcomes.filter(Boolean).length, 1, 'The number of writers that win');
      checkEqual((await find(store))?.state['n'], outcomes.indexOf(true), 'The state that is stored');
    },
  },
  {
    id: 'S1.5',
    title: 'gives a writer that was too late the record that is stored',
    async run({ store }) {
      await put(store, { state: { layout: 1, n: 1 } }, 0);
      const expected = { isWritten: false, present: { ...record({ state: { layout: 1, n: 1 } }), version: 1 } };
      checkEqual(await put(store, {}, 0), expected, 'What a put with version 0 gives');
      checkEqual(await put(store, {}, 2), expected, 'What a put over a version that is not stored yet gives');
    },
  },
  {
    id: 'S2.1',
    title: 'does not find an expired record',
    async run(subject) {
      const { store } = subject;
      await store.put(record(), 0, SHORT_MS);
      await pass(subject, SHORT_MS);
      checkEqual(await find(store), undefined, 'What is found past its expiry');
      checkEqual(await put(store, {}, 1), { isWritten: false }, 'What a put over it gives');
      checkEqual(await isWritten(store, {}, 0), true, 'Whether a record past its expiry gives way to a new one');
      checkEqual((await find(store))?.version, 1, 'The version of the new one');
    },
  },
  {
    id: 'S2.2',
    title: 'keeps a record that is used, by get and by put, and changes nothing else',
    async run(subject) {
      const { store } = subject;
      for (const id of ['one', 'two', 'left']) await store.put(record({ id }), 0, SHORT_MS);
      await pass(subject, SHORT_MS / 2);
      checkEqual(await store.get('one', SHORT_MS), { ...record(), version: 1 }, 'What is found');
      await store.put(record({ id: 'two' }), 1, SHORT_MS);
      await pass(subject, SHORT_MS / 2);
      const found = [await find(store), await find(store, 'two'), await find(store, 'left')].map((each) => each?.version);
      checkEqual(found, [1, 2, undefined], 'The versions of the one that was read, the one that was written and the other');
    },
  },
  {
    id: 'S3.1',
    title: 'stores copies: changing an object that was put or returned changes no stored value',
    async run({ store }) {
      const state = { layout: 1, list: [1] };
      await put(store, { state }, 0);
      state.list.push(2);
      const found = await find(store);
      check(found !== undefined, 'A record should be found');
      (found.state['list'] as number[]).push(3);
      const { present } = await put(store, {}, 0);
      (present?.state['list'] as number[] | undefined)?.push(4);
      checkEqual((await find(store))?.state, { layout: 1, list: [1] }, 'What is stored after others changed their copies');
    },
  },
  {
    id: 'S4.1',
    title: 'keeps sessions that have not expired while it deletes others',
    async run(subject) {
      const { store } = subject;
      for (const id of ['a', 'b']) await store.put(record({ id }), 0, SHORT_MS);
      await put(store, { id: 'c' }, 0);
      await pass(subject, SHORT_MS);
      await Promise.all(Array.from({ length: 10 }, (_, n) => put(store, { id: `d${n}` }, 0)));
      checkEqual([await find(store, 'a'), await find(store, 'b')], [undefined, undefined], 'What is found of what has expired');
      checkEqual((await find(store, 'c'))?.id, 'c', 'What is found of the rest');
    },
  },
  {
    id: 'S4.2',
    title: 'finds no deleted value; deleting an unknown id does nothing',
    async run({ store }) {
      await put(store, {}, 0);
      await store.delete('one');
      await store.delete('one');
      checkEqual(await find(store), undefined, 'What is found after delete');
      checkEqual(await put(store, {}, 1), { isWritten: false }, 'What a put over it gives');
      checkEqual(await isWritten(store, {}, 0), true, 'Whether the id can be used again');
    },
  },
];
