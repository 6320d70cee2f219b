/** `@mortise/transport-testkit/replay-store`: test cases for the guarantees P1 and P2 of a `ReplayStore`. */

import type { ReplayStore } from '@mortise/protocol/contracts';
import { checkEqual } from './check.ts';
import { HOUR_MS, type KitCase, pass, SHORT_MS, type TimedSubject } from './kit-case.ts';

/** The object that the `ReplayStore` cases test: an empty store. */
export interface ReplayStoreSubject extends TimedSubject {
  readonly store: ReplayStore;
  /** For implementations that declare the trait `shared`: another store over the same data, as another machine or process would open it. */
  readonly other?: ReplayStore;
}

/** A test case for one guarantee of a `ReplayStore`. */
export type ReplayStoreCase = KitCase<ReplayStoreSubject>;

/**
 * Test cases for the guarantees of a `ReplayStore`. The id of a case, such as P1.1, begins with the id of its guarantee.
 *
 * A trait that adds a case: `shared` (the subject has `other`).
 */
export const replayStoreCases: readonly ReplayStoreCase[] = [
  {
    id: 'P1.1',
    title: 'lets an id be claimed once',
    async run(subject) {
      const { store } = subject;
      for (const id of ['one', '__proto__', 'constructor', '']) {
        checkEqual(await store.claim(id, HOUR_MS), true, `Whether "${id}" can be claimed`);
        checkEqual(await store.claim(id, HOUR_MS), false, `Whether "${id}" can be claimed again`);
      }
    },
  },
  {
    id: 'P1.2',
    title: 'lets exactly one of many concurrent claims of an id succeed',
    async run(subject) {
      const stores = [subject.store, subject.other ?? subject.store];
      const claims = Array.from({ length: 20 }, (_, n) => (stores[n % 2] ?? subject.store).claim('one', HOUR_MS));
      checkEqual((await Promise.all(claims)).filter(Boolean).length, 1, 'The number of claims that succeed');
    },
  },
  {
    id: 'P1.3',
    title: 'keeps a claim that another machine has made',
    needs: ['shared'],
    async run(subject) {
      checkEqual(await subject.store.claim('one', HOUR_MS), true, 'Whether an id can be claimed');
      checkEqual(await subject.other?.claim('one', HOUR_MS), false, 'Whether another machine can claim it too');
    },
  },
  {
    id: 'P2.1',
    title: 'lets an expired id be claimed again, once',
    async run(subject) {
      const { store } = subject;
      checkEqual(await store.claim('one', SHORT_MS), true, 'Whether an id can be claimed');
      checkEqual(await store.claim('other', HOUR_MS), true, 'Whether another id can be claimed');
      await pass(subject, SHORT_MS);
      checkEqual(await store.claim('other', HOUR_MS), false, 'Whether an id can be claimed before its expiry');
      checkEqual(await store.claim('one', HOUR_MS), true, 'Whether it can be claimed after its expiry');
      checkEqual(await store.claim('one', HOUR_MS), false, 'Whether it can be claimed once more');
    },
  },
];
