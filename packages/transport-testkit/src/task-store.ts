/** `@mortise/transport-testkit/task-store`: the promises K1 to K8 of `TaskStore`. */

import type { TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { check, checkEqual, checkRejects } from './check.ts';
import type { KitCase, KitSubject } from './kit-case.ts';

/** An empty store. */
export interface TaskStoreSubject extends KitSubject {
  readonly store: TaskStore;
  /** With the trait `shared`: another store over the same data, as another machine or process would open it. */
  readonly other?: TaskStore;
  /** The time by the store's clock, in milliseconds since the epoch. @default Date.now */
  now?(): number;
}

/** One promise of `TaskStore` put to the test. */
export type TaskStoreCase = KitCase<TaskStoreSubject>;

type NewRecord = Omit<TaskRecord, 'version'>;

const HOUR_MS = 3_600_000;

function nowOf(subject: TaskStoreSubject): number {
  return subject.now?.() ?? Date.now();
}

function record(subject: TaskStoreSubject, id: string, more: Partial<NewRecord> = {}): NewRecord {
  const now = nowOf(subject);
  return {
    id,
    principal: 'issuer|ada',
    generation: 'one',
    status: 'working',
    driver: 'engine',
    resumable: true,
    asks: [],
    createdAtMs: now,
    updatedAtMs: now,
    ttlMs: null,
    expiresAtMs: null,
    ...more,
  };
}

/** A record that has ended already by the store's clock. */
function expired(subject: TaskStoreSubject, id: string, more: Partial<NewRecord> = {}): NewRecord {
  const now = nowOf(subject);
  return record(subject, id, { createdAtMs: now - 2 * HOUR_MS, ttlMs: HOUR_MS, expiresAtMs: now - HOUR_MS, ...more });
}

async function idsOf(
  store: TaskStore,
  limit: number,
  more: { readonly generation?: string } = {},
): Promise<readonly (readonly string[])[]> {
  const pages: (readonly string[])[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list('issuer|ada', { limit, ...more, ...(cursor !== undefined && { cursor }) });
    pages.push(page.tasks.map(({ id }) => id));
    cursor = page.nextCursor;
    check(pages.length < 100, 'The pages of a list should come to an end');
  } while (cursor !== undefined);
  return pages;
}

/** Several callers at once, over both stores where there are two. */
function callers(subject: TaskStoreSubject): readonly TaskStore[] {
  return Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? subject.store : (subject.other ?? subject.store)));
}

const creation: readonly TaskStoreCase[] = [
  {
    id: 'K1.1',
    title: 'gives back every member of what was created, with version 1, and nothing under another id',
    async run(subject) {
      const { store } = subject;
      const whole = record(subject, '__proto__', {
        status: 'input_required',
        statusMessage: 'ä\n\u2028',
        call: {
          tool: 'report',
          arguments: { list: [1, { a: null }] },
          principal: 'issuer|ada',
          revision: 'r',
          clientCapabilities: { sampling: {} },
          scopes: ['read'],
          meta: { 'vendor/key': 1 },
        },
        progressToken: 0,
        asks: [{ key: 'q1', digest: 'd1', method: 'elicitation/create', params: { message: 'Go on?' }, answer: { action: 'accept' } }],
        result: { content: [] },
        error: { code: -32603, message: 'no', data: { a: 1 } },
        driver: 'hand',
        ttlMs: HOUR_MS,
        expiresAtMs: nowOf(subject) + HOUR_MS,
        pollIntervalMs: 250,
        lease: { owner: 'me', untilMs: nowOf(subject) + 1000 },
        data: { any: ['thing'] },
      });
      checkEqual(await store.create(whole), { ...whole, version: 1 }, 'What create gives');
      checkEqual(await store.get('__proto__'), { ...whole, version: 1 }, 'What is found');
      for (const id of ['two', 'constructor', '']) checkEqual(await store.get(id), undefined, `What is found under "${id}"`);
    },
  },
  {
    id: 'K1.2',
    title: 'rejects an id that exists, and leaves what is there',
    async run(subject) {
      const { store } = subject;
      await store.create(record(subject, 'one'));
      await checkRejects(store.create(record(subject, 'one', { principal: 'issuer|eve' })), 'create with an id that exists');
      checkEqual((await store.get('one'))?.principal, 'issuer|ada', 'The principal that stays');
    },
  },
  {
    id: 'K1.3',
    title: 'lets exactly one of many creators of an id win',
    async run(subject) {
      const created = callers(subject).map((store, n) => store.create(record(subject, 'one', { data: { n } })));
      const outcomes = await Promise.allSettled(created);
      checkEqual(outcomes.filter(({ status }) => status === 'fulfilled').length, 1, 'The number of creators that win');
      const winner = outcomes.findIndex(({ status }) => status === 'fulfilled');
      checkEqual((await subject.store.get('one'))?.data, { n: winner }, 'What is stored');
    },
  },
  {
    id: 'K1.4',
    title: 'shows another machine what was created as soon as create has resolved',
    needs: ['shared'],
    async run(subject) {
      for (let n = 0; n < 20; n++) {
        await subject.store.create(record(subject, `t${n}`));
        checkEqual((await subject.other?.get(`t${n}`))?.id, `t${n}`, 'What another machine finds');
      }
    },
  },
];

const updates: readonly TaskStoreCase[] = [
  {
    id: 'K2.1',
    title: 'writes the changes over the stored version, counts it up, and leaves the rest',
    async run(subject) {
      const { store } = subject;
      const created = await store.create(record(subject, 'one', { statusMessage: 'old', data: { a: 1 } }));
      const later = created.updatedAtMs + 5;
      const changes = { status: 'completed', result: { content: [], n: 1 }, updatedAtMs: later, statusMessage: 'new' } as const;
      checkEqual(await store.update('one', 1, changes), { ...created, ...changes, version: 2 }, 'What update gives');
      checkEqual(await store.get('one'), { ...created, ...changes, version: 2 }, 'What is stored after an update');
    },
  },
  {
    id: 'K2.2',
    title: 'writes nothing of an update whose version is not the stored one',
    async run(subject) {
      const { store } = subject;
      const created = await store.create(record(subject, 'one'));
      await store.update('one', 1, { statusMessage: 'first' });
      for (const version of [0, 1, 3]) {
        const outcome = await store.update('one', version, { status: 'failed', statusMessage: 'late', data: { late: true } });
        checkEqual(outcome, undefined, `What an update over version ${version} gives`);
      }
      checkEqual(await store.get('one'), { ...created, statusMessage: 'first', version: 2 }, 'What is stored after late updates');
      checkEqual(await store.update('two', 1, { status: 'failed' }), undefined, 'What an update of a task that is not there gives');
    },
  },
  {
    id: 'K2.3',
    title: 'lets exactly one of many writers over a version win',
    async run(subject) {
      await subject.store.create(record(subject, 'one'));
      const outcomes = await Promise.all(callers(subject).map((store, n) => store.update('one', 1, { data: { n } })));
      checkEqual(outcomes.filter(Boolean).length, 1, 'The number of writers that win');
      const stored = await subject.store.get('one');
      checkEqual([stored?.version, stored?.data?.['n']], [2, outcomes.findIndex(Boolean)], 'What is stored');
    },
  },
  {
    id: 'K2.4',
    title: 'takes a member away that an update gives as undefined',
    async run(subject) {
      const { store } = subject;
      const lease = { owner: 'me', untilMs: nowOf(subject) + HOUR_MS };
      const created = await store.create(record(subject, 'one', { lease, statusMessage: 'old' }));
      const changes: Record<string, unknown> = { lease: undefined, statusMessage: undefined };
      const written = await store.update('one', created.version, changes);
      checkEqual([written?.lease, written?.statusMessage], [undefined, undefined], 'What is left of members taken away');
      checkEqual((await store.lease('one', 'other', lease.untilMs, nowOf(subject)))?.lease?.owner, 'other', 'Who holds the lease then');
    },
  },
];

const leases: readonly TaskStoreCase[] = [
  {
    id: 'K3.1',
    title: 'gives a lease to one, refuses it to others while it lives, and renews it for its owner',
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
    title: 'gives a lease that has ended to the next who asks',
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
    title: 'gives a lease to exactly one of many who ask at once',
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
    title: 'refuses a write of the former owner over a version from before its lease was taken over',
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
];

const lists: readonly TaskStoreCase[] = [
  {
    id: 'K4.1',
    title: 'lists by time of creation then id, newest last, in pages',
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
    title: 'lists and counts one principal alone, and one generation where that is asked for',
    async run(subject) {
      const { store } = subject;
      await store.create(record(subject, 'a'));
      await store.create(record(subject, 'b', { principal: 'issuer|eve' }));
      await store.create(record(subject, 'c', { generation: 'two', status: 'completed' }));
      await store.create(record(subject, 'd', { principal: 'issuer|ada2' }));
      checkEqual((await idsOf(store, 10)).flat().toSorted(), ['a', 'c'], "One principal's tasks");
      checkEqual((await idsOf(store, 1, { generation: 'two' })).flat(), ['c'], 'Its tasks of one generation');
      checkEqual(await store.count('issuer|ada', ['working', 'input_required']), 1, 'The number of its open tasks');
      checkEqual(await store.count('issuer|ada', ['working', 'completed']), 2, 'The number of its tasks in two statuses');
      checkEqual(await store.count('nobody', ['working']), 0, 'The number of tasks of a principal without any');
    },
  },
  {
    id: 'K4.3',
    title: 'goes on rightly from a cursor while records come and go',
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
      // What the cursor stands on goes, something before it comes, something after it comes.
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
];

const steps: readonly TaskStoreCase[] = [
  {
    id: 'K5.1',
    title: 'keeps the first value of a step, and gives it to whoever puts another',
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
    title: 'tells a step that is null, false or empty from one that is not there',
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
    title: 'gives all of many writers of a step the same value',
    async run(subject) {
      await subject.store.create(record(subject, 'one'));
      const values = await Promise.all(callers(subject).map((store, n) => store.putStep('one', 'k', n)));
      checkEqual(new Set(values).size, 1, 'The number of different values');
      checkEqual(await subject.store.getStep('one', 'k'), { value: values[0] }, 'What is stored');
    },
  },
];

const ends: readonly TaskStoreCase[] = [
  {
    id: 'K6.1',
    title: 'does not find a record past its expiry, whatever is asked',
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
    title: 'deletes what has expired with its steps, tells how many, and leaves the rest',
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
    title: 'keeps what it stores apart from what it is given and gives',
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
    title: 'lists the unfinished tasks of the engine that nobody holds a living lease on',
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
    title: 'lists them oldest first, up to a limit',
    async run(subject) {
      const { store } = subject;
      const now = nowOf(subject);
      for (const n of [3, 1, 2, 4]) await store.create(record(subject, `t${n}`, { createdAtMs: now + n }));
      checkEqual(await store.listOrphans(now, 3), ['t1', 't2', 't3'], 'The three oldest');
    },
  },
];

/** K1 to K8, as cases. */
export const taskStoreCases: readonly TaskStoreCase[] = [...creation, ...updates, ...leases, ...lists, ...steps, ...ends];
