/** Test cases of `TaskStore` for creating task records and changing them by compare-and-set. */

import { checkEqual, checkRejects } from '../check.ts';
import { HOUR_MS, callers, nowOf, record, type TaskStoreCase } from './subject.ts';

export const records: readonly TaskStoreCase[] = [
  {
    id: 'K1.1',
    title: 'returns a created record with all members and version 1, under its id only',
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
    title: 'rejects an existing id, and leaves its record unchanged',
    async run(subject) {
      const { store } = subject;
      await store.create(record(subject, 'one'));
      await checkRejects(store.create(record(subject, 'one', { principal: 'issuer|eve' })), 'create with an id that exists');
      checkEqual((await store.get('one'))?.principal, 'issuer|ada', 'The principal that stays');
    },
  },
  {
    id: 'K1.3',
    title: 'lets exactly one of many concurrent creates of an id succeed',
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
    title: 'shows a created record to another machine once create has resolved',
    needs: ['shared'],
    async run(subject) {
      for (let n = 0; n < 20; n++) {
        await subject.store.create(record(subject, `t${n}`));
        checkEqual((await subject.other?.get(`t${n}`))?.id, `t${n}`, 'What another machine finds');
      }
    },
  },
  {
    id: 'K2.1',
    title: 'update writes the changes, increments the version, and keeps other members',
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
    title: 'update writes nothing if the expected version is not the stored one',
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
    title: 'lets exactly one of many concurrent updates of a version succeed',
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
    title: 'update removes members that are given as undefined',
    async run(subject) {
      const { store } = subject;
      const lease = { owner: 'me', untilMs: nowOf(subject) + HOUR_MS };
      const call = { tool: 't', arguments: { secret: 's' }, principal: 'issuer|ada', revision: 'r', clientCapabilities: {}, scopes: [] };
      const created = await store.create(record(subject, 'one', { lease, statusMessage: 'old', call }));
      const changes: Record<string, unknown> = { lease: undefined, statusMessage: undefined, call: undefined };
      const written = await store.update('one', created.version, changes);
      checkEqual((await store.get('one'))?.call, undefined, 'What is left of the arguments of the call');
      checkEqual([written?.lease, written?.statusMessage], [undefined, undefined], 'What is left of members taken away');
      checkEqual((await store.lease('one', 'other', lease.untilMs, nowOf(subject)))?.lease?.owner, 'other', 'Who holds the lease then');
    },
  },
];
