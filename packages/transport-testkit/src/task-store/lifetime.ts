/** Test cases of `TaskStore` for steps, expiry, copies, and orphaned tasks (whose process has died). */

import { checkEqual } from '../check.ts';
import { HOUR_MS, callers, expired, idsOf, nowOf, record, type TaskStoreCase, type NewRecord } from './subject.ts';

export const lifetime: readonly TaskStoreCase[] = [
  {
    id: 'K5.1',
    title: 'keeps the first value of a step, and returns it for later puts',
    async run(subject) {
      const { store } = subject;
      for (const id of ['one', 'two']) await store.create(record(subject, id));
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
      await store.create(record(subject, 'one'));
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
      await subject.store.create(record(subject, 'one'));
      const values = await Promise.all(callers(subject).map((store, n) => store.putStep('one', 'k', n)));
      checkEqual(new Set(values).size, 1, 'The number of different values');
      checkEqual(await subject.store.getStep('one', 'k'), { value: values[0] }, 'What is stored');
    },
  },
  {
    id: 'K6.1',
    title: 'does not find an expired record with any method',
    async run(subject) {
      const { store } = subject;
      const now = nowOf(subject);
      await store.create(expired(subject, 'gone'));
      await store.create(record(subject, 'there', { ttlMs: HOUR_MS, expiresAtMs: now + HOUR_MS }));
      checkEqual(await store.get('gone'), undefined, 'What get finds');
      checkEqual(await store.update('gone', 1, { status: 'completed' }), undefined, 'What update gives');
      checkEqual(await store.lease('gone', 'a', now + 1000, now), undefined, 'What lease gives');
      checkEqual((await idsOf(store, 10)).flat(), ['there'], 'What is listed');
      checkEqual(await store.count('issuer|ada', ['working']), 1, 'What is counted');
    },
  },
  {
    id: 'K6.2',
    title: 'deletes expired records with their steps, returns their number, and keeps the others',
    async run(subject) {
      const { store } = subject;
      const now = nowOf(subject);
      const until = (ms: number): Partial<NewRecord> => ({ ttlMs: ms, expiresAtMs: now + ms });
      for (const id of ['a', 'b']) await store.create(record(subject, id, until(HOUR_MS)));
      await store.create(record(subject, 'c', until(2 * HOUR_MS)));
      await store.create(record(subject, 'd'));
      for (const id of ['a', 'c']) await store.putStep(id, 'k', id);
      const counts = await Promise.all([store.deleteExpired(now + HOUR_MS), (subject.other ?? store).deleteExpired(now + HOUR_MS)]);
      checkEqual(counts[0] + counts[1], 2, 'The number of records that two machines delete');
      checkEqual([await store.get('a'), await store.get('b')], [undefined, undefined], 'What is found of what was deleted');
      await store.create(record(subject, 'a'));
      checkEqual(await store.getStep('a', 'k'), undefined, 'The step of what was deleted');
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
      await store.create(record(subject, 'one', { data: { list } }));
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
    title: 'lists the unfinished tasks of the engine that have no valid lease',
    async run(subject) {
      const { store } = subject;
      const now = nowOf(subject);
      for (const id of ['free', 'held', 'dropped', 'asking']) await store.create(record(subject, id));
      await store.update('asking', 1, { status: 'input_required' });
      for (const status of ['completed', 'failed', 'cancelled'] as const) await store.create(record(subject, status, { status }));
      await store.create(record(subject, 'by hand', { driver: 'hand' }));
      await store.create(expired(subject, 'gone'));
      await store.lease('held', 'a', now + 2000, now);
      await store.lease('dropped', 'a', now + 1000, now);
      checkEqual([...(await store.listOrphans(now + 1000, 10))].sort(), ['asking', 'dropped', 'free'], 'The tasks without a living lease');
      await store.update('free', 1, { status: 'completed' });
      checkEqual([...(await store.listOrphans(now + 2000, 10))].sort(), ['asking', 'dropped', 'held'], 'Those of a later time');
    },
  },
  {
    id: 'K8.2',
    title: 'lists orphaned tasks oldest first, up to a limit',
    async run(subject) {
      const { store } = subject;
      const now = nowOf(subject);
      for (const n of [3, 1, 2, 4]) await store.create(record(subject, `t${n}`, { createdAtMs: now + n }));
      checkEqual(await store.listOrphans(now, 3), ['t1', 't2', 't3'], 'The three oldest');
    },
  },
];
