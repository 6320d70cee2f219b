/** `@mortise/transport-testkit/task-handle-store`: test cases for the guarantees H1 to H3 of a `TaskHandleStore`. */

import type { TaskHandleRecord, TaskHandleStore } from '@mortise/protocol/contracts';
import { checkEqual } from './check.ts';
import type { KitCase, KitSubject } from './kit-case.ts';

/** The object that the `TaskHandleStore` cases test: an empty store. */
export interface TaskHandleStoreSubject extends KitSubject {
  readonly store: TaskHandleStore;
}

/** A test case for one guarantee of a `TaskHandleStore`. */
export type TaskHandleStoreCase = KitCase<TaskHandleStoreSubject>;

const SERVERS = ['https://a.example/mcp', 'https://a.example/', '__proto__', 'ключ', ''];

function handle(server: string, taskId: string): TaskHandleRecord {
  return { server, taskId, method: 'tools/call', createdAtMs: 1_800_000_000_000 };
}

/** Lists a server's records sorted by id, because the store may return them in any order. */
async function listed(store: TaskHandleStore, server: string): Promise<readonly TaskHandleRecord[]> {
  return (await store.list(server)).toSorted((one, other) => (one.taskId < other.taskId ? -1 : 1));
}

/** Test cases for the guarantees H1 to H3 of a `TaskHandleStore`. Run them with `describeKit` or `runCases`. */
export const taskHandleStoreCases: readonly TaskHandleStoreCase[] = [
  {
    id: 'H1.1',
    title: 'lists the complete records of one server only',
    async run({ store }) {
      for (const server of SERVERS) await store.add(handle(server, `task of ${server}`));
      for (const server of SERVERS)
        checkEqual(await listed(store, server), [handle(server, `task of ${server}`)], `What is listed for "${server}"`);
      checkEqual(await store.list('https://b.example/'), [], 'What is listed for a server that has nothing');
      checkEqual(await store.list('constructor'), [], 'What is listed for "constructor"');
    },
  },
  {
    id: 'H2.1',
    title: 'keeps one record if a task is added twice',
    async run({ store }) {
      await store.add(handle('s', 'one'));
      await store.add({ ...handle('s', 'one'), createdAtMs: 1 });
      checkEqual((await store.list('s')).length, 1, 'The number of records');
    },
  },
  {
    id: 'H2.2',
    title: 'keeps the records of many concurrent calls of add',
    async run({ store }) {
      const ids = Array.from({ length: 50 }, (_, n) => `task ${String(n).padStart(2, '0')}`);
      await Promise.all(ids.map((id) => store.add(handle('s', id))));
      checkEqual(
        (await listed(store, 's')).map(({ taskId }) => taskId),
        ids,
        'What is listed',
      );
    },
  },
  {
    id: 'H3.1',
    title: 'removes one record only; removing an unknown one does nothing',
    async run({ store }) {
      for (const id of ['one', 'two']) for (const server of ['s', 't']) await store.add(handle(server, id));
      await store.remove('s', 'one');
      await store.remove('s', 'one');
      await store.remove('never', 'one');
      checkEqual(
        (await listed(store, 's')).map(({ taskId }) => taskId),
        ['two'],
        'What is left of the server',
      );
      checkEqual(
        (await listed(store, 't')).map(({ taskId }) => taskId),
        ['one', 'two'],
        'What is left of the other',
      );
    },
  },
];
