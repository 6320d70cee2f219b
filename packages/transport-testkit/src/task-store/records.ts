/** Test cases of `TaskStore` for creating task records and changing them by compare-and-set. */

import { check, checkEqual, checkRejects } from '../check.ts';
import { HOUR_MS } from '../kit-case.ts';
import { callers, create, record, type TaskStoreCase } from './subject.ts';

export const records: readonly TaskStoreCase[] = [
  {
    id: 'K1.1',
    title: 'returns a created record with all members and version 1, under its id only',
    async run({ store }) {
      const whole = record('__proto__', {
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
        pollIntervalMs: 250,
        owner: 'me',
        data: { any: ['thing'] },
      });
      checkEqual(await store.create(whole, { leaseMs: HOUR_MS }), { ...whole, version: 1 }, 'What create gives');
      checkEqual(await store.get('__proto__'), { ...whole, version: 1 }, 'What is found');
      for (const id of ['two', 'constructor', '']) checkEqual(await store.get(id), undefined, `What is found under "${id}"`);
    },
  },
  {
    id: 'K1.2',
    title: 'rejects an existing id, and leaves its record unchanged',
    async run({ store }) {
      await create(store, 'one');
      await checkRejects(create(store, 'one', { principal: 'issuer|eve' }), 'create with an id that exists');
      checkEqual((await store.get('one'))?.principal, 'issuer|ada', 'The principal that stays');
    },
  },
  {
    id: 'K1.3',
    title: 'lets exactly one of many concurrent creates of an id succeed',
    async run(subject) {
      const created = callers(subject).map((store, n) => create(store, 'one', { data: { n } }));
      const outcomes = await Promise.allSettled(created);
      checkEqual(outcomes.filter(({ status }) => status === 'fulfilled').length, 1, 'The number of creators that win');
      const winner = outcomes.findIndex(({ status }) => status === 'fulfilled');
      checkEqual((await subject.store.get('one'))?.data, { n: winner }, 'What is stored');
    },
  },
  {
    id: 'K1.4',
    title: 'shows a created record to another machine once create has resolved',
    needs: ['shared'],
    async run(subject) {
      for (let n = 0; n < 20; n++) {
        await create(subject.store, `t${n}`);
        checkEqual((await subject.other?.get(`t${n}`))?.id, `t${n}`, 'What another machine finds');
      }
    },
  },
  {
    id: 'K1.5',
    title: 'stores no more unfinished tasks of a principal than its limit, also if many are created at once',
    async run(subject) {
      const terms = { maxOpen: 3, leaseMs: HOUR_MS };
      const { store } = subject;
      await create(store, 'of eve', { principal: 'issuer|eve' });
      for (const status of ['completed', 'failed', 'cancelled'] as const) await create(store, status, { status });
      const created = await Promise.all(callers(subject).map((each, n) => each.create(record(`t${n}`), terms)));
      checkEqual(created.filter(Boolean).length, 3, 'How many are created');
      checkEqual((await store.list('issuer|ada', { limit: 100 })).tasks.length, 6, 'How many are stored');
      const [first] = created.filter((each) => each !== undefined);
      check(first !== undefined, 'A task should be created below the limit');
      await store.update(first.id, 1, { status: 'input_required' });
      checkEqual(await store.create(record('asking too'), terms), undefined, 'What is created while one waits for input');
      await store.update(first.id, 2, { status: 'completed' });
      checkEqual((await store.create(record('later'), terms))?.id, 'later', 'What is created when one has ended');
    },
  },
  {
    id: 'K1.6',
    title: 'deletes a task with its steps; deleting an unknown one does nothing',
    async run({ store }) {
      await create(store, 'one');
      await create(store, 'two');
      await store.putStep('one', 'k', 1);
      await store.delete('one');
      await store.delete('one');
      checkEqual([await store.get('one'), (await store.get('two'))?.id], [undefined, 'two'], 'What is found');
      await create(store, 'one');
      checkEqual(await store.getStep('one', 'k'), undefined, 'The step of what was deleted');
    },
  },
  {
    id: 'K1.7',
    title: 'has what was stored when it is opened again',
    needs: ['reopens'],
    async run(subject) {
      const { store } = subject;
      await create(store, 'one', { call: { tool: 't', arguments: {}, principal: 'p', revision: 'r', clientCapabilities: {}, scopes: [] } });
      await create(store, 'two');
      await store.putStep('one', 'k', { a: [1] });
      const before = await store.update('one', 1, { statusMessage: 'half' });
      const again = await subject.reopen?.();
      checkEqual(await again?.get('one'), before, 'What is found of a task');
      checkEqual(await again?.getStep('one', 'k'), { value: { a: [1] } }, 'What is found of its step');
      checkEqual(
        (await again?.list('issuer|ada', { limit: 10 }))?.tasks.map(({ id }) => id),
        ['one', 'two'],
        'What is listed',
      );
    },
  },
  {
    id: 'K2.1',
    title: 'update writes the changes, increments the version, and keeps other members',
    async run({ store }) {
      const created = await create(store, 'one', { statusMessage: 'old', data: { a: 1 } });
      const later = created.updatedAtMs + 5;
      const changes = { status: 'completed', result: { content: [], n: 1 }, updatedAtMs: later, statusMessage: 'new' } as const;
      checkEqual(await store.update('one', 1, changes), { ...created, ...changes, version: 2 }, 'What update gives');
      checkEqual(await store.get('one'), { ...created, ...changes, version: 2 }, 'What is stored after an update');
    },
  },
  {
    id: 'K2.2',
    title: 'update writes nothing if the expected version is not the stored one',
    async run({ store }) {
      const created = await create(store, 'one');
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
    title: 'lets exactly one of many concurrent updates of a version succeed',
    async run(subject) {
      await create(subject.store, 'one');
      const outcomes = await Promise.all(callers(subject).map((store, n) => store.update('one', 1, { data: { n } })));
      checkEqual(outcomes.filter(Boolean).length, 1, 'The number of writers that win');
      const stored = await subject.store.get('one');
      checkEqual([stored?.version, stored?.data?.['n']], [2, outcomes.findIndex(Boolean)], 'What is stored');
    },
  },
  {
    id: 'K2.4',
    title: 'update removes the members that it names',
    async run({ store }) {
      const call = { tool: 't', arguments: { secret: 's' }, principal: 'issuer|ada', revision: 'r', clientCapabilities: {}, scopes: [] };
      const created = await create(store, 'one', { statusMessage: 'old', call, data: { a: 1 } });
      await store.update('one', created.version, { status: 'failed', remove: ['statusMessage', 'call'] });
      const stored = await store.get('one');
      checkEqual([stored?.call, stored?.statusMessage, stored?.data], [undefined, undefined, { a: 1 }], 'What is left of the record');
    },
  },
];
