/**
 * Test cases of `TaskStore` for the bounds of what it stores. For stores with the trait `bounded`, which have exactly the bounds of K9; those
 * with the trait `onOneMachine` have the bounds of all principals, too.
 */

import { checkCode, checkEqual, checkRejects } from '../check.ts';
import { pass } from '../kit-case.ts';
import { create, type NewRecord, type TaskStoreCase } from './subject.ts';

const FOUR_MILLION = 'x'.repeat(4 * 2 ** 20);
const large: Partial<NewRecord> = { data: { text: FOUR_MILLION } };
const completed = { status: 'completed' } as const;

export const bounds: readonly TaskStoreCase[] = [
  {
    id: 'K9.1',
    title: 'stores 10,000 ended tasks of a principal, deletes the one that ended first for one more, and none of others',
    needs: ['bounded'],
    async run(subject) {
      const { store } = subject;
      for (const id of ['open', 'last']) await create(store, id);
      await create(store, 'of bob', { ...completed, principal: 'bob' });
      for (let n = 0; n < 10_000; n++) await create(store, `t${n}`, completed);
      const ids = ['open', 'of bob', 't0', 't1'];
      const found = async () => (await Promise.all(ids.map((id) => store.get(id)))).map((task) => task?.id);
      checkEqual(await found(), ids, 'What is stored at the bound');
      // What ends in the same millisecond has no order.
      await pass(subject, 1);
      await store.update('last', 1, completed);
      await pass(subject, 1);
      checkEqual(await found(), ['open', 'of bob', undefined, 't1'], 'What is stored when one more has ended');
      await create(store, 'more', completed);
      checkEqual(await found(), ['open', 'of bob', undefined, undefined], 'What is stored when one was created that had ended');
      checkEqual((await store.list('issuer|ada', { limit: 20_000 })).tasks.length, 10_001, 'The number of tasks');
    },
  },
  {
    id: 'K9.2',
    title: 'stores 32 Mi characters of a principal: deletes what ended first, then rejects',
    needs: ['bounded'],
    async run(subject) {
      const { store } = subject;
      for (let n = 0; n < 7; n++) await create(store, `t${n}`, large);
      const refused = await checkRejects(create(store, 't7', large), 'create beside unfinished tasks that fill the store');
      checkCode(refused, 'ERR_TASK_LIMIT', 'The reason');
      await create(store, 'of bob', { ...large, principal: 'bob' });
      for (const id of ['t1', 't0']) {
        await store.update(id, 1, completed);
        await pass(subject, 1);
      }
      for (const id of ['t7', 't8']) {
        await create(store, id, large);
        const found = await Promise.all(['t0', 't1', 'of bob'].map((each) => store.get(each)));
        const expected = [id === 't7' ? 't0' : undefined, undefined, 'of bob'];
        checkEqual(
          found.map((task) => task?.id),
          expected,
          `What is stored beside ${id}`,
        );
      }
    },
  },
  {
    id: 'K9.3',
    title: 'counts the steps of a task, and makes room for a result',
    needs: ['bounded'],
    async run(subject) {
      const { store } = subject;
      for (const id of ['old', 'one', 'two']) await create(store, id);
      await store.update('old', 1, { ...completed, ...large });
      await pass(subject, 1);
      for (let n = 0; n < 6; n++) await store.putStep('one', `k${n}`, FOUR_MILLION);
      checkEqual((await store.get('old'))?.id, 'old', 'What is stored at the bound');
      await store.update('two', 1, { ...completed, ...large });
      checkEqual((await store.get('old'))?.id, undefined, 'What ended first when a result needs its room');
      await create(store, 'three', { data: { text: FOUR_MILLION } });
      const refused = await checkRejects(store.putStep('one', 'k6', FOUR_MILLION), 'putStep beside unfinished tasks that fill the store');
      checkCode(refused, 'ERR_TASK_LIMIT', 'The reason');
      checkEqual(await store.putStep('one', 'k0', 'late'), FOUR_MILLION, 'What a put of a known step gives');
    },
  },
  {
    id: 'K9.4',
    title: 'on one machine stores 128 Mi characters of all principals: deletes what ended first, then rejects',
    needs: ['bounded', 'onOneMachine'],
    async run(subject) {
      const { store } = subject;
      const fill = (n: number) => create(store, `t${n}`, { ...large, principal: `p${n % 5}` });
      for (let n = 0; n < 31; n++) await fill(n);
      checkCode(await checkRejects(fill(31), 'create where the tasks of all fill the store'), 'ERR_TASK_LIMIT', 'The reason');
      await store.update('t9', 1, completed);
      await fill(31);
      checkEqual((await store.get('t9'))?.id, undefined, 'What had ended');
      checkEqual((await store.get('t0'))?.id, 't0', 'What had not ended');
    },
  },
];
