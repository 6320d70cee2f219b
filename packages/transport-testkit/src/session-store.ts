/** `@mortise/transport-testkit/session-store`: test cases for the guarantees S1 to S4 of a `SessionStore`. */

import type { SessionRecord, SessionStore } from '@mortise/protocol/contracts';
import { check, checkEqual } from './check.ts';
import type { KitCase, KitSubject } from './kit-case.ts';

/** The object that the `SessionStore` cases test: an empty store. */
export interface SessionStoreSubject extends KitSubject {
  readonly store: SessionStore;
  /** Gives the current time of the store's clock, in milliseconds since the epoch. @default Date.now */
  now?(): number;
}

/** A test case for one guarantee of a `SessionStore`. */
export type SessionStoreCase = KitCase<SessionStoreSubject>;

type NewRecord = Omit<SessionRecord, 'version'>;

const HOUR_MS = 3_600_000;

function record(subject: SessionStoreSubject, more: Partial<NewRecord> = {}): NewRecord {
  const now = subject.now?.() ?? Date.now();
  return { id: 'one', principal: 'issuer|ada', state: { layout: 1, level: 'info' }, expiresAtMs: now + HOUR_MS, ...more };
}

/** Test cases for the guarantees of a `SessionStore`. The id of a case, such as S1.1, begins with the id of its guarantee. */
export const sessionStoreCases: readonly SessionStoreCase[] = [
  {
    id: 'S1.1',
    title: 'finds a record under its id only, with version 1',
    async run(subject) {
      const { store } = subject;
      const put = record(subject, { id: '__proto__', state: { layout: 3, list: [1, { a: null }], text: 'ä\n\u2028' } });
      checkEqual(await store.put(put, 0), true, 'Whether a first put writes');
      checkEqual(await store.get('__proto__'), { ...put, version: 1 }, 'What is found');
      checkEqual(await store.get('two'), undefined, 'What is found under another id');
      checkEqual(await store.get('constructor'), undefined, 'What is found under "constructor"');
    },
  },
  {
    id: 'S1.2',
    title: 'writes with expected version 0 only if no record is stored',
    async run(subject) {
      const { store } = subject;
      await store.put(record(subject), 0);
      checkEqual(await store.put(record(subject, { principal: 'issuer|eve' }), 0), false, 'Whether a second put with version 0 writes');
      checkEqual((await store.get('one'))?.principal, 'issuer|ada', 'The principal that stays');
    },
  },
  {
    id: 'S1.3',
    title: 'writes only if the expected version is the stored one, and increments it',
    async run(subject) {
      const { store } = subject;
      checkEqual(await store.put(record(subject), 1), false, 'Whether a put over what is not there writes');
      await store.put(record(subject), 0);
      checkEqual(
        await store.put(record(subject, { state: { layout: 1, level: 'debug' } }), 1),
        true,
        'Whether a put over version 1 writes',
      );
      checkEqual(
        await store.put(record(subject, { state: { layout: 1, level: 'late' } }), 1),
        false,
        'Whether another put over version 1 writes',
      );
      const found = await store.get('one');
      checkEqual([found?.version, found?.state['level']], [2, 'debug'], 'The version and the state that are stored');
    },
  },
  {
    id: 'S1.4',
    title: 'lets exactly one of many concurrent writers succeed',
    async run(subject) {
      const { store } = subject;
      await store.put(record(subject), 0);
      const outcomes = await Promise.all(Array.from({ length: 20 }, (_, n) => store.put(record(subject, { state: { layout: 1, n } }), 1)));
      checkEqual(outcomes.filter(Boolean).length, 1, 'The number of writers that win');
      checkEqual((await store.get('one'))?.state['n'], outcomes.indexOf(true), 'The state that is stored');
    },
  },
  {
    id: 'S2.1',
    title: 'does not find an expired record',
    async run(subject) {
      const { store } = subject;
      const past = record(subject).expiresAtMs - 2 * HOUR_MS;
      await store.put(record(subject, { expiresAtMs: past }), 0);
      checkEqual(await store.get('one'), undefined, 'What is found past its expiry');
      checkEqual(await store.touch('one', past + 2 * HOUR_MS), false, 'Whether a record past its expiry can be touched');
      checkEqual(await store.put(record(subject), 0), true, 'Whether a record past its expiry gives way to a new one');
      checkEqual((await store.get('one'))?.version, 1, 'The version of the new one');
    },
  },
  {
    id: 'S2.2',
    title: 'touch changes the expiry only',
    async run(subject) {
      const { store } = subject;
      const put = record(subject);
      await store.put(put, 0);
      const later = put.expiresAtMs + HOUR_MS;
      checkEqual(await store.touch('one', later), true, 'Whether a record can be touched');
      checkEqual(await store.touch('two', later), false, 'Whether a record that is not there can be touched');
      const found = await store.get('one');
      checkEqual([found?.expiresAtMs, found?.principal, found?.state], [later, put.principal, put.state], 'What a touched record holds');
    },
  },
  {
    id: 'S3.1',
    title: 'stores copies: changing an object that was put or returned changes no stored value',
    async run(subject) {
      const { store } = subject;
      const state = { layout: 1, list: [1] };
      await store.put(record(subject, { state }), 0);
      state.list.push(2);
      const found = await store.get('one');
      check(found !== undefined, 'A record should be found');
      (found.state['list'] as number[]).push(3);
      checkEqual((await store.get('one'))?.state, { layout: 1, list: [1] }, 'What is stored after others changed their copies');
    },
  },
  {
    id: 'S4.1',
    title: 'deletes expired records, returns their number, and keeps the others',
    async run(subject) {
      const { store } = subject;
      const { expiresAtMs } = record(subject);
      for (const id of ['a', 'b']) await store.put(record(subject, { id }), 0);
      await store.put(record(subject, { id: 'c', expiresAtMs: expiresAtMs + HOUR_MS }), 0);
      const counts = await Promise.all([store.deleteExpired(expiresAtMs + 1), store.deleteExpired(expiresAtMs + 1)]);
      checkEqual(counts[0] + counts[1], 2, 'The number of records that two machines delete');
      checkEqual([await store.get('a'), await store.get('b')], [undefined, undefined], 'What is found of what was deleted');
      checkEqual((await store.get('c'))?.id, 'c', 'What is found of the rest');
    },
  },
  {
    id: 'S4.2',
    title: 'finds no deleted value; deleting an unknown id does nothing',
    async run(subject) {
      const { store } = subject;
      await store.put(record(subject), 0);
      await store.delete('one');
      await store.delete('one');
      checkEqual(await store.get('one'), undefined, 'What is found after delete');
      checkEqual(await store.put(record(subject), 0), true, 'Whether the id can be used again');
    },
  },
];
