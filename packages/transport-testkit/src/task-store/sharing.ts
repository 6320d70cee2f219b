/** Test cases of `TaskStore` for leases and lists. A lease lets one process alone run a task. */

import { check, checkEqual, checkRejects } from '../check.ts';
import { HOUR_MS, pass, SHORT_MS } from '../kit-case.ts';
import { callers, create, CREATED_AT_MS, idsOf, type TaskStoreCase } from './subject.ts';

export const sharing: readonly TaskStoreCase[] = [
  {
    id: 'K3.1',
    title: 'gives a task to one owner, and to no other while that owner is alive',
    async run(subject) {
      const { store } = subject;
      await create(store, 'one');
      const first = await store.claim('one', 'a', SHORT_MS);
      checkEqual([first?.record.owner, first?.record.version, first?.wasStarted], ['a', 2, false], 'What the first owner gets');
      checkEqual(await store.claim('one', 'b', SHORT_MS), undefined, 'What another gets');
      const again = await store.claim('one', 'a', SHORT_MS);
      checkEqual([again?.record.version, again?.wasStarted], [3, true], 'What its owner gets again');
      await pass(subject, SHORT_MS / 2);
      checkEqual(
        (await store.renew('a', SHORT_MS)).map(({ id, version }) => [id, version]),
        [['one', 3]],
        'What its owner has',
      );
      await pass(subject, SHORT_MS / 2);
      checkEqual(await store.claim('one', 'b', SHORT_MS), undefined, 'What another gets after a renewal');
      checkEqual(await store.claim('two', 'a', SHORT_MS), undefined, 'What a claim of a task that is not there gives');
    },
  },
  {
    id: 'K3.2',
    title: 'gives a task to the next owner when the last is not alive any more, or has given its tasks back',
    async run(subject) {
      const { store } = subject;
      for (const id of ['one', 'two']) await create(store, id);
      await store.claim('one', 'a', SHORT_MS);
      await store.claim('two', 'c', HOUR_MS);
      await pass(subject, SHORT_MS);
      const taken = await store.claim('one', 'b', HOUR_MS);
      checkEqual([taken?.record.owner, taken?.wasStarted], ['b', true], 'What the next owner gets');
      checkEqual(await store.claim('one', 'a', HOUR_MS), undefined, 'What its first owner gets then');
      checkEqual(await store.renew('a', HOUR_MS), [], 'What its first owner has then');
      await store.renew('c', 0);
      checkEqual((await store.claim('two', 'b', HOUR_MS))?.record.owner, 'b', 'Who owns a task that was given back');
    },
  },
  {
    id: 'K3.3',
    title: 'gives a task to exactly one of many concurrent callers',
    async run(subject) {
      await create(subject.store, 'one');
      const outcomes = await Promise.all(callers(subject).map((store, n) => store.claim('one', `w${n}`, HOUR_MS)));
      checkEqual(outcomes.filter(Boolean).length, 1, 'The number of callers that get the task');
      checkEqual((await subject.store.get('one'))?.owner, `w${outcomes.findIndex(Boolean)}`, 'Who owns the task');
    },
  },
  {
    id: 'K3.4',
    title: "refuses a former owner's update after another owner has taken the task",
    async run(subject) {
      const { store } = subject;
      await create(store, 'one');
      const held = await store.claim('one', 'a', SHORT_MS);
      check(held !== undefined, 'A task without an owner should be had');
      await pass(subject, SHORT_MS);
      const taken = await store.claim('one', 'b', HOUR_MS);
      check(taken !== undefined, 'A task whose owner is not alive should be had');
      checkEqual(await store.update('one', held.record.version, { status: 'failed' }), undefined, 'What a write of the former owner gives');
      checkEqual((await store.update('one', taken.record.version, { status: 'completed' }))?.status, 'completed', "The new owner's write");
    },
  },
  {
    id: 'K3.5',
    title: 'gives nobody a task that has ended or that is completed by hand, and counts a task that was created with an owner as its own',
    async run(subject) {
      const { store } = subject;
      await create(store, 'ended', { status: 'completed' });
      await create(store, 'by hand', { driver: 'hand' });
      for (const id of ['ended', 'by hand']) checkEqual(await store.claim(id, 'a', HOUR_MS), undefined, `What a claim of "${id}" gives`);
      await create(store, 'begun', { owner: 'a' }, SHORT_MS);
      checkEqual(await store.claim('begun', 'b', HOUR_MS), undefined, 'What another gets');
      await pass(subject, SHORT_MS);
      checkEqual((await store.claim('begun', 'b', HOUR_MS))?.wasStarted, true, 'Whether it was started before');
    },
  },
  {
    id: 'K4.1',
    title: 'lists in pages, by creation time and then id, newest last',
    async run(subject) {
      const { store } = subject;
      const order = [
        ['c', 1],
        ['a', 2],
        ['b', 2],
        ['B', 3],
        ['z', 4],
      ] as const;
      for (const [id, at] of order.toReversed()) await create(store, id, { createdAtMs: CREATED_AT_MS + at });
      checkEqual(await idsOf(store, 100), [['c', 'a', 'b', 'B', 'z']], 'The list in one page');
      const pages = await idsOf(store, 2);
      checkEqual(pages.flat(), ['c', 'a', 'b', 'B', 'z'], 'The list in pages');
      check(pages.length >= 3 && pages.every((page) => page.length <= 2), 'A page should hold no more than its limit');
    },
  },
  {
    id: 'K4.2',
    title: 'lists the tasks of one principal only',
    async run(subject) {
      const { store } = subject;
      await create(store, 'a');
      await create(store, 'b', { principal: 'issuer|eve' });
      await create(store, 'c', { status: 'completed' });
      await create(store, 'd', { principal: 'issuer|ada2' });
      checkEqual((await idsOf(store, 10)).flat().toSorted(), ['a', 'c'], "One principal's tasks");
    },
  },
  {
    id: 'K4.3',
    title: 'continues correctly from a cursor after records were added and deleted',
    async run(subject) {
      const { store } = subject;
      const at = (n: number, ttlMs = HOUR_MS) => ({ createdAtMs: CREATED_AT_MS + n, ttlMs });
      for (const n of [1, 2, 3, 4, 5]) await create(store, `t${n}`, at(n, n <= 2 ? SHORT_MS : HOUR_MS));
      const first = await store.list('issuer|ada', { limit: 2 });
      checkEqual(
        first.tasks.map(({ id }) => id),
        ['t1', 't2'],
        'The first page',
      );
      check(first.nextCursor !== undefined, 'A page that is not the last should have a cursor');
      // The record of the cursor expires; one is added before and one after it.
      await pass(subject, SHORT_MS);
      await create(store, 't0', at(0));
      await create(store, 't6', at(6));
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
