/** Test cases of `TaskStore` for leases and lists. A lease lets one process alone run a task. */

import { check, checkEqual, checkRejects } from '../check.ts';
import { HOUR_MS, callers, idsOf, nowOf, record, type TaskStoreCase, type NewRecord } from './subject.ts';

export const sharing: readonly TaskStoreCase[] = [
  {
    id: 'K3.1',
    title: 'gives a lease to one owner, refuses others while it is valid, and renews it for its owner',
    async run(subject) {
      const { store } = subject;
      const now = nowOf(subject);
      await store.create(record(subject, 'one'));
      checkEqual((await store.lease('one', 'a', now + 1000, now))?.lease, { owner: 'a', untilMs: now + 1000 }, 'The lease that is taken');
      checkEqual(await store.lease('one', 'b', now + 2000, now + 999), undefined, 'What another gets while the lease lives');
      checkEqual((await store.get('one'))?.lease, { owner: 'a', untilMs: now + 1000 }, 'The lease after another was refused');
      checkEqual((await store.lease('one', 'a', now + 3000, now + 500))?.lease?.untilMs, now + 3000, 'The end of a renewed lease');
      checkEqual(await store.lease('one', 'b', now + 9000, now + 2999), undefined, 'What another gets while the renewed lease lives');
      checkEqual(await store.lease('two', 'a', now + 1000, now), undefined, 'What a lease of a task that is not there gives');
    },
  },
  {
    id: 'K3.2',
    title: 'gives an expired lease to the next caller',
    async run(subject) {
      const { store } = subject;
      const now = nowOf(subject);
      await store.create(record(subject, 'one'));
      await store.lease('one', 'a', now + 1000, now);
      checkEqual((await store.lease('one', 'b', now + 5000, now + 1000))?.lease?.owner, 'b', 'Who holds the lease after its end');
      checkEqual(await store.lease('one', 'a', now + 6000, now + 1001), undefined, 'What its first owner gets then');
    },
  },
  {
    id: 'K3.3',
    title: 'gives a lease to exactly one of many concurrent callers',
    async run(subject) {
      const now = nowOf(subject);
      await subject.store.create(record(subject, 'one'));
      const outcomes = await Promise.all(callers(subject).map((store, n) => store.lease('one', `w${n}`, now + HOUR_MS, now)));
      checkEqual(outcomes.filter(Boolean).length, 1, 'The number of callers that get the lease');
      checkEqual((await subject.store.get('one'))?.lease?.owner, `w${outcomes.findIndex(Boolean)}`, 'Who holds the lease');
    },
  },
  {
    id: 'K3.4',
    title: "refuses a former owner's update after another owner has taken the lease",
    async run(subject) {
      const { store } = subject;
      const now = nowOf(subject);
      await store.create(record(subject, 'one'));
      const held = await store.lease('one', 'a', now + 1000, now);
      check(held !== undefined, 'A task without a lease should be leased');
      const taken = await store.lease('one', 'b', now + 9000, now + 1000);
      check(taken !== undefined, 'A lease that has ended should be taken over');
      checkEqual(await store.update('one', held.version, { status: 'failed' }), undefined, 'What a write of the former owner gives');
      checkEqual((await store.update('one', taken.version, { status: 'completed' }))?.status, 'completed', "The new owner's write");
    },
  },
  {
    id: 'K4.1',
    title: 'lists in pages, by creation time and then id, newest last',
    async run(subject) {
      const { store } = subject;
      const now = nowOf(subject);
      const order = [
        ['c', 1],
        ['a', 2],
        ['b', 2],
        ['B', 3],
        ['z', 4],
      ] as const;
      for (const [id, at] of order.toReversed()) await store.create(record(subject, id, { createdAtMs: now + at }));
      checkEqual(await idsOf(store, 100), [['c', 'a', 'b', 'B', 'z']], 'The list in one page');
      const pages = await idsOf(store, 2);
      checkEqual(pages.flat(), ['c', 'a', 'b', 'B', 'z'], 'The list in pages');
      check(pages.length >= 3 && pages.every((page) => page.length <= 2), 'A page should hold no more than its limit');
    },
  },
  {
    id: 'K4.2',
    title: 'lists and counts the tasks of one principal only',
    async run(subject) {
      const { store } = subject;
      await store.create(record(subject, 'a'));
      await store.create(record(subject, 'b', { principal: 'issuer|eve' }));
      await store.create(record(subject, 'c', { status: 'completed' }));
      await store.create(record(subject, 'd', { principal: 'issuer|ada2' }));
      checkEqual((await idsOf(store, 10)).flat().toSorted(), ['a', 'c'], "One principal's tasks");
      checkEqual(await store.count('issuer|ada', ['working', 'input_required']), 1, 'The number of its open tasks');
      checkEqual(await store.count('issuer|ada', ['working', 'completed']), 2, 'The number of its tasks in two statuses');
      checkEqual(await store.count('nobody', ['working']), 0, 'The number of tasks of a principal without any');
    },
  },
  {
    id: 'K4.3',
    title: 'continues correctly from a cursor after records were added and deleted',
    async run(subject) {
      const { store } = subject;
      const now = nowOf(subject);
      const at = (n: number): Partial<NewRecord> => ({ createdAtMs: now + n, ttlMs: HOUR_MS, expiresAtMs: now + HOUR_MS + n });
      for (const n of [1, 2, 3, 4, 5]) await store.create(record(subject, `t${n}`, at(n)));
      const first = await store.list('issuer|ada', { limit: 2 });
      checkEqual(
        first.tasks.map(({ id }) => id),
        ['t1', 't2'],
        'The first page',
      );
      check(first.nextCursor !== undefined, 'A page that is not the last should have a cursor');
      // Deletes the record of the cursor, and adds one before and one after it.
      await store.deleteExpired(now + HOUR_MS + 2);
      await store.create(record(subject, 't0', at(0)));
      await store.create(record(subject, 't6', at(6)));
      const rest = await store.list('issuer|ada', { limit: 10, cursor: first.nextCursor });
      checkEqual(
        rest.tasks.map(({ id }) => id),
        ['t3', 't4', 't5', 't6'],
        'The rest after records came and went',
      );
    },
  },
  {
    id: 'K4.4',
    title: 'rejects with a RangeError for a cursor from elsewhere',
    async run({ store }) {
      for (const cursor of ['', 'made up', ':', '-1']) {
        const error = await checkRejects(store.list('issuer|ada', { limit: 10, cursor }), `list with the cursor "${cursor}"`);
        check(error instanceof RangeError, `What list rejects with for the cursor "${cursor}" should be a RangeError`);
      }
    },
  },
];
