/** What create-sqlite-stores.test.ts has processes of their own do: `scenarios.ts <scenario> [file] [milliseconds]`. Prints JSON. */

import { setTimeout as sleep } from 'node:timers/promises';
import { createSqliteStores, type SqliteDatabase } from '@mortise/store-sqlite';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { openDatabase } from './open-database.ts';

const [, , scenario = '', file = ':memory:', delayMs = '0'] = process.argv;
const HOUR_MS = 3_600_000;

function count(database: SqliteDatabase, table: string): number {
  return Number((database.prepare(`SELECT count(*) AS count FROM ${table}`).get() as { count: number }).count);
}

async function codeOf(options: object): Promise<unknown> {
  try {
    await (await createSqliteStores(options)).close();
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code ?? (error as Error).name;
  }
}

const now = Date.now();
const task = {
  id: 'T1',
  principal: 'ada',
  generation: 'g',
  status: 'working',
  driver: 'engine',
  resumable: true,
  asks: [],
  createdAtMs: now,
  updatedAtMs: now,
  ttlMs: null,
} as const;
const TERMS = { leaseMs: HOUR_MS };

const scenarios: Readonly<Record<string, () => Promise<unknown>>> = {
  async write() {
    const stores = await createSqliteStores({ path: file });
    await stores.tasks.create(task, TERMS);
    await stores.tasks.create({ ...task, id: 'T3' }, TERMS);
    for (const id of ['T1', 'T3']) await stores.tasks.putStep(id, 'k', 7);
    await stores.tasks.update('T1', 1, { status: 'completed' });
    await stores.sessions.put({ id: 'S', principal: 'ada', state: { layout: 1 } }, 0, HOUR_MS);
    await stores.taskHandles.add({ server: 's', taskId: 'T1', method: 'tools/call', createdAtMs: now });
    await stores.taskHandles.add({ server: 's', taskId: 'T2', method: 'tools/call', createdAtMs: now });
    await stores.taskHandles.remove('s', 'T2');
    await stores.close();
    return true;
  },
  async read() {
    await using stores = await createSqliteStores({ path: file });
    const handles = (await stores.taskHandles.list('s')).map(({ taskId }) => taskId);
    const found = { task: (await stores.tasks.get('T1'))?.status, step: (await stores.tasks.getStep('T3', 'k'))?.value };
    return { ...found, session: (await stores.sessions.get('S', HOUR_MS))?.principal, handles };
  },
  async claim() {
    await using stores = await createSqliteStores({ path: file });
    return stores.replays.claim('once', HOUR_MS);
  },
  async layout() {
    const database = await openDatabase(file);
    const versions = database.prepare('SELECT version FROM mortise_schema').all() as { version: number }[];
    const mode = database.prepare('PRAGMA journal_mode').get() as { journal_mode: string };
    return { versions: versions.map(({ version }) => version), mode: mode.journal_mode };
  },
  /** What the file counts, and what it has, at first and after tasks ended, came and went. */
  async sums() {
    const database = await openDatabase(file);
    const { tasks } = await createSqliteStores({ database });
    const sums = (): unknown => [
      database.prepare('SELECT owner, ended, characters FROM mortise_task_sums ORDER BY owner').all(),
      database
        .prepare(
          `WITH texts AS (
             SELECT principal, ended_at_ms, length(record) + coalesce((SELECT sum(length(key) + length(value)) FROM mortise_steps WHERE task_id = id), 0) AS size
             FROM mortise_tasks)
           SELECT '*' AS owner, count(ended_at_ms) AS ended, sum(size) AS characters FROM texts
           UNION ALL SELECT '=' || principal, count(ended_at_ms), sum(size) FROM texts GROUP BY principal ORDER BY 1`,
        )
        .all(),
    ];
    await tasks.create({ ...task, id: 'T2' }, TERMS);
    await tasks.create({ ...task, principal: 'bob', status: 'completed' }, TERMS);
    await tasks.putStep('T2', 'k', 77);
    const before = sums();
    await tasks.update('T2', 1, { status: 'completed', result: { text: 'done' } });
    await tasks.delete('T1');
    await tasks.create({ ...task, id: 'T4' }, TERMS);
    await tasks.putStep('T4', 'k', 1);
    return { before, after: sums() };
  },
  async 'make-newer'() {
    (await openDatabase(file)).exec('UPDATE mortise_schema SET version = 99');
    return true;
  },
  open: async () => ({ code: await codeOf({ path: file }) }),
  told: async () =>
    createSqliteStores({ path: file }).then(
      () => '',
      (error: unknown) => (error as Error).message,
    ),
  async 'handed-over'() {
    const database = await openDatabase(':memory:');
    await (await createSqliteStores({ database })).close();
    return {
      isOpen: count(database, 'mortise_tasks') === 0,
      none: await codeOf({ database: { exec: 1 } }),
      both: await codeOf({ database, path: file }),
      unknown: await codeOf({ path: file, driver: 'none' }),
    };
  },
  async hold() {
    const database = await openDatabase(file);
    database.exec('BEGIN IMMEDIATE');
    await sleep(Number(delayMs));
    database.exec('COMMIT');
    return true;
  },
  async 'write-late'() {
    await sleep(Number(delayMs));
    await using stores = await createSqliteStores({ path: file });
    return stores.replays.claim('late', HOUR_MS);
  },
  /** What is done with bounds that SQLite itself would not take: Infinity, a fraction, and `undefined`, which counts as left out. */
  async bounds() {
    const seen: unknown[] = [];
    for (const bound of [Infinity, 2.5, undefined] as number[]) {
      const [database, clock] = [await openDatabase(':memory:'), new FakeClock(now)];
      const figures = { busyTimeoutMs: bound, events: { maxEventsPerStream: bound, maxAgeMs: bound } };
      const stores = await createSqliteStores({ database, clock, ...figures });
      const first = await stores.events.append('s', 'x', undefined);
      await stores.events.append('s', 'x', { jsonrpc: '2.0', method: 'm' });
      await stores.tasks.create(task, TERMS);
      const { timeout } = database.prepare('PRAGMA busy_timeout').get() as { timeout: number };
      seen.push({
        timeout,
        replayed: (await stores.events.replay('s', first ?? ''))?.events.length,
        listed: (await stores.tasks.list('ada', { limit: bound ?? 100 })).tasks.length,
      });
      await stores.close();
    }
    return seen;
  },
  async clearing() {
    const clock = new FakeClock(now);
    const database = await openDatabase(':memory:');
    const { states, replays, sessions, events } = await createSqliteStores({ database, clock, events: { maxEventsPerStream: 100 } });
    for (let n = 0; n < 256; n++) {
      if (n === 255) clock.advance(2 * HOUR_MS);
      await states.put(`${n}`, 'x', HOUR_MS);
      await replays.claim(`${n}`, HOUR_MS);
      await sessions.put({ id: `${n}`, principal: 'ada', state: { layout: 1 } }, 0, HOUR_MS);
    }
    for (let n = 0; n < 256; n++) await events.append('s', 'a', { jsonrpc: '2.0', method: 'm' });
    return {
      states: count(database, 'mortise_states'),
      claims: count(database, 'mortise_claims'),
      sessions: count(database, 'mortise_sessions'),
      events: count(database, 'mortise_events'),
    };
  },
};

const outcome = await scenarios[scenario]?.();
process.stdout.write(JSON.stringify(outcome));
