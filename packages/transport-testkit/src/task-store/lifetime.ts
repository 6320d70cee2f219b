/** Test cases of `TaskStore` for steps, expiry, copies, and orphaned tasks (whose process has died). */

import { checkEqual, checkRejects } from '../check.ts';
import { HOUR_MS, pass, SHORT_MS } from '../kit-case.ts';
import { callers, create, CREATED_AT_MS, idsOf, type TaskStoreCase } from './subject.ts';

export const lifetime: readonly TaskStoreCase[] = [
  {
    id: 'K5.1',
    title: 'keeps the first value of a step, and returns it for later puts',
    async run(subject) {
      const { store } = subject;
      for (const id of ['one', 'two']) await create(store, id);
      checkEqual(await store.getStep('one', 'k'), undefined, 'A step that was never put');
      checkEqual(await store.putStep('one', 'k', { a: [1] }), { a: [1] }, 'What the first put gives');
      checkEqual(await store.putStep('one', 'k', { a: [2] }), { a: [1] }, 'What the second put gives');
      checkEqual(await store.getStep('one', 'k'), { value: { a: [1] } }, 'What is stored');
      checkEqual([await store.getStep('one', '__proto__'), await store.getStep('two', 'k')], [undefined, undefined], 'Other steps');
    },
  },
  {
    id: 'K5.2',
    title: 'distinguishes a step that is null, false or empty from a missing one',
    async run(subject) {
      const { store } = subject;
      await create(store, 'one');
      for (const value of [null, false, 0, '', []]) {
        const key = JSON.stringify(value);
        checkEqual(await store.putStep('one', key, value), value, `What a put of ${key} gives`);
        checkEqual(await store.putStep('one', key, 'late'), value, `What a second put over ${key} gives`);
        checkEqual(await store.getStep('one', key), { value }, `What is stored of ${key}`);
      }
    },
  },
  {
    id: 'K5.3',
    title: 'returns the same value to all concurrent writers of a step',
    async run(subject) {
      await create(subject.store, 'one');
      const values = await Promise.all(callers(subject).map((store, n) => store.putStep('one', 'k', n)));
      checkEqual(new Set(values).size, 1, 'The number of different values');
      checkEqual(await subject.store.getStep('one', 'k'), { value: values[0] }, 'What is stored');
    },
  },
  {
    id: 'K5.4',
    title: 'rejects a step of a task that it does not have',
    async run({ store }) {
      await create(store, 'one');
      await checkRejects(store.putStep('two', 'k', 1), 'putStep of an unknown task');
      await create(store, 'two');
      checkEqual(await store.getStep('two', 'k'), undefined, 'The step when such a task was created');
    },
  },
  {
    id: 'K6.1',
    title: 'does not find an expired record with any method',
    async run(subject) {
      const { store } = subject;
      await create(store, 'gone', { ttlMs: SHORT_MS }, 0);
      await create(store, 'there', { ttlMs: HOUR_MS });
      await pass(subject, SHORT_MS);
      checkEqual(await store.get('gone'), undefined, 'What get finds');
      checkEqual(await store.update('gone', 1, { status: 'completed' }), undefined, 'What update gives');
      checkEqual(await store.claim('gone', 'a', HOUR_MS), undefined, 'What claim gives');
      checkEqual(await store.claimOrphans(HOUR_MS, 10), [], 'The orphans');
      checkEqual((await idsOf(store, 10)).flat(), ['there'], 'What is listed');
    },
  },
  {
    id: 'K6.2',
    title: 'finds no expired record nor its steps, and keeps the others while two machines create more',
    async run(subject) {
      const { store, other = store } = subject;
      for (const id of ['a', 'b']) await create(store, id, { ttlMs: SHORT_MS });
      await create(store, 'c', { ttlMs: HOUR_MS });
      await create(store, 'd');
      for (const id of ['a', 'c']) await store.putStep(id, 'k', id);
      await pass(subject, SHORT_MS);
      await Promise.all([store, other].flatMap((each, n) => ['e', 'f', 'g'].map((id) => create(each, `${id}${n}`))));
      checkEqual([await store.get('a'), await store.get('b')], [undefined, undefined], 'What is found of what has expired');
      checkEqual(await store.getStep('a', 'k'), undefined, 'The step of what has expired');
      checkEqual(await store.getStep('c', 'k'), { value: 'c' }, 'The step of the rest');
      checkEqual((await store.get('d'))?.id, 'd', 'What is found of a record that never ends');
    },
  },
  {
    id: 'K7.1',
    title: 'stores copies: changing an object that was put or returned changes no stored value',
    async run(subject) {
      const { store } = subject;
      const list = [1];
      const answer = { list };
      await create(store, 'one', { data: { list } });
      await store.putStep('one', 'k', answer);
      list.push(2);
      const found = await store.get('one');
      (found?.data?.['list'] as number[] | undefined)?.push(3);
      const updated = await store.update('one', 1, { result: { list: [] } });
      (updated?.result?.['list'] as number[] | undefined)?.push(4);
      const listed = await store.list('issuer|ada', { limit: 1 });
      (listed.tasks[0]?.data?.['list'] as number[] | undefined)?.push(5);
      const step = await store.getStep('one', 'k');
      (step?.value as { list: number[] } | undefined)?.list.push(6);
      const stored = await store.get('one');
      checkEqual([stored?.data, stored?.result], [{ list: [1] }, { list: [] }], 'What is stored after others changed their copies');
      checkEqual(await store.getStep('one', 'k'), { value: { list: [1] } }, 'The step after others changed their copies');
    },
  },
  {
    id: 'K8.1',
    title: 'gives out the unfinished tasks of the engine that have no living owner and are not about to be run',
    async run(subject) {
      const { store } = subject;
      for (const id of ['free', 'dropped', 'asking', 'held']) await create(store, id, {}, 0);
      await create(store, 'new');
      await store.update('asking', 1, { status: 'input_required' });
      for (const status of ['completed', 'failed', 'cancelled'] as const) await create(store, status, { status }, 0);
      await create(store, 'by hand', { driver: 'hand' }, 0);
      await store.claim('held', 'alive', HOUR_MS);
      await store.claim('dropped', 'dead', SHORT_MS);
      await pass(subject, SHORT_MS);
      const orphans = await store.claimOrphans(SHORT_MS, 10);
      checkEqual(orphans.map(({ id }) => id).toSorted(), ['asking', 'dropped', 'free'], 'The orphans');
      checkEqual(orphans.find(({ id }) => id === 'dropped')?.owner, 'dead', 'The last owner of one of them');
      checkEqual(await store.claimOrphans(SHORT_MS, 10), [], 'What another caller gets');
      checkEqual((await store.claim('free', 'alive', HOUR_MS))?.wasStarted, false, 'Whether a task that nobody ran was started');
      await store.update('asking', 2, { status: 'completed' });
      checkEqual((await store.claim('dropped', 'alive', HOUR_MS))?.wasStarted, true, 'Whether a task of a dead owner was started');
      await pass(subject, SHORT_MS);
      checkEqual(await store.claimOrphans(SHORT_MS, 10), [], 'The orphans when all have an owner or have ended');
      await store.renew('alive', 0);
      const again = (await store.claimOrphans(SHORT_MS, 10)).map(({ id }) => id);
      checkEqual(again.toSorted(), ['dropped', 'free', 'held'], 'The orphans when their owner has given them back');
    },
  },
  {
    id: 'K8.2',
    title: 'gives out orphans up to a limit, and again when nobody has taken them',
    async run(subject) {
      const { store } = subject;
      for (const n of [3, 1, 2, 4]) await create(store, `t${n}`, { createdAtMs: CREATED_AT_MS + n }, 0);
      const nextIds = async () => (await store.claimOrphans(SHORT_MS, 3)).map(({ id }) => id);
      const given = [await nextIds(), await nextIds(), await nextIds()];
      checkEqual(
        given.map(({ length }) => length),
        [3, 1, 0],
        'The number of orphans that each call gives',
      );
      checkEqual(given.flat().toSorted(), ['t1', 't2', 't3', 't4'], 'The orphans');
      await pass(subject, SHORT_MS);
      checkEqual((await nextIds()).length, 3, 'The number of orphans when nobody has taken them');
    },
  },
  {
    id: 'K8.3',
    title: 'gives each of many orphans to one of many concurrent callers',
    async run(subject) {
      for (let n = 0; n < 40; n++) await create(subject.store, `t${n}`, {}, 0);
      const given = await Promise.all(callers(subject).map((store) => store.claimOrphans(HOUR_MS, 3)));
      given.push(await subject.store.claimOrphans(HOUR_MS, 100));
      const ids = given.flat().map(({ id }) => id);
      checkEqual([ids.length, new Set(ids).size], [40, 40], 'The number of orphans that were given out, and of different ones');
    },
  },
];
