/** `@mortise/transport-testkit/state-store`: test cases for the guarantees Q1 and Q2 of a `StateStore`. */

import type { StateStore } from '@mortise/protocol/contracts';
import { checkEqual } from './check.ts';
import { HOUR_MS, type KitCase, pass, SHORT_MS, type TimedSubject } from './kit-case.ts';

/** The object that the `StateStore` cases test: an empty store. */
export interface StateStoreSubject extends TimedSubject {
  readonly store: StateStore;
}

/** A test case for one guarantee of a `StateStore`. */
export type StateStoreCase = KitCase<StateStoreSubject>;

/** Test cases for the guarantees of a `StateStore`. The id of a case, such as Q1.1, begins with the id of its guarantee. */
export const stateStoreCases: readonly StateStoreCase[] = [
  {
    id: 'Q1.1',
    title: 'does not find an expired value',
    async run(subject) {
      const { store } = subject;
      await store.put('past', 'x', SHORT_MS);
      await store.put('other', 'x', HOUR_MS);
      await pass(subject, SHORT_MS);
      checkEqual(await store.get('other'), 'x', 'What is found before its expiry');
      checkEqual(await store.get('past'), undefined, 'What is found past its expiry');
      await store.put('past', 'y', HOUR_MS);
      checkEqual(await store.get('past'), 'y', 'What is found after it was put anew');
    },
  },
  {
    id: 'Q2.1',
    title: 'finds values of any id, text and length, under their ids only',
    async run(subject) {
      const { store } = subject;
      const values = { __proto__2: '', '': 'empty name', 'ä/?': 'ä\n\u2028\u0000"', long: 'x'.repeat(1_048_576) };
      for (const [id, value] of Object.entries(values)) await store.put(id, value, HOUR_MS);
      await store.put('__proto__', 'proto', HOUR_MS);
      for (const [id, value] of Object.entries(values))
        checkEqual((await store.get(id)) === value, true, `Whether "${id}" is found as put`);
      checkEqual(await store.get('__proto__'), 'proto', 'What is found under "__proto__"');
      checkEqual(await store.get('constructor'), undefined, 'What is found under "constructor"');
    },
  },
  {
    id: 'Q2.2',
    title: 'gives the last value that was put',
    async run(subject) {
      const { store } = subject;
      await store.put('one', 'first', HOUR_MS);
      await store.put('one', 'second', HOUR_MS);
      checkEqual(await store.get('one'), 'second', 'What is found');
    },
  },
  {
    id: 'Q2.3',
    title: 'finds no deleted value; deleting an unknown id does nothing',
    async run(subject) {
      const { store } = subject;
      await store.put('one', 'x', HOUR_MS);
      await store.put('two', 'y', HOUR_MS);
      await store.delete('one');
      await store.delete('one');
      checkEqual([await store.get('one'), await store.get('two')], [undefined, 'y'], 'What is found after delete');
    },
  },
];
