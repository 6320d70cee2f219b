/**
 * A server whose tasks do many small steps over one SQLite file, made to be killed. The file itself watches: triggers count how often each
 * task ends, is changed after its end, and is leased while another's lease lives. `audit` as the second argument prints what was found.
 */

import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@mortise/server';
import { createSqliteStores, type SqliteDatabase } from '@mortise/store-sqlite';
import { MemoryTaskQueue } from '@mortise/tasks';
import { createTasks } from '@mortise/tasks/server';
import { serveStdio } from '@mortise/transport-stdio/server';
import { z } from 'zod';
import { openDatabase } from '../../src/open-database.ts';

const [, , file = '', mode = 'serve', stepMs = '50', leaseMs = '250'] = process.argv;
const LEASE_MS = Number(leaseMs);
const MAX_IN_HAND = 12;

const NOW = `(julianday('now') - 2440587.5) * 86400000.0`;

/** What the file notes by itself, whatever the programs believe. */
const WATCH = `
  CREATE TABLE IF NOT EXISTS watch_endings (task_id TEXT NOT NULL, status TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS watch_faults (what TEXT NOT NULL, task_id TEXT NOT NULL, detail TEXT);
  CREATE TABLE IF NOT EXISTS watch_leases (task_id TEXT NOT NULL, owner TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS watch_running (task_id TEXT PRIMARY KEY NOT NULL, live INTEGER NOT NULL, most INTEGER NOT NULL);
  CREATE TRIGGER IF NOT EXISTS watch_ending AFTER UPDATE OF state ON mortise_tasks
    WHEN NEW.state = 'end' AND OLD.state <> 'end'
    BEGIN INSERT INTO watch_endings VALUES (NEW.id, NEW.record ->> '$.status'); END;
  CREATE TRIGGER IF NOT EXISTS watch_after_end AFTER UPDATE ON mortise_tasks
    WHEN OLD.state = 'end' AND (NEW.state <> 'end' OR NEW.record <> OLD.record)
    BEGIN INSERT INTO watch_faults VALUES ('changed after its end', NEW.id, NEW.record); END;
  CREATE TRIGGER IF NOT EXISTS watch_first_lease AFTER INSERT ON mortise_tasks WHEN NEW.owner IS NOT NULL
    BEGIN INSERT INTO watch_leases VALUES (NEW.id, NEW.owner); END;
  CREATE TRIGGER IF NOT EXISTS watch_lease AFTER UPDATE OF owner ON mortise_tasks WHEN NEW.owner IS NOT NULL AND NEW.owner IS NOT OLD.owner
    BEGIN INSERT INTO watch_leases VALUES (NEW.id, NEW.owner); END;
  CREATE TRIGGER IF NOT EXISTS watch_two_leases AFTER UPDATE OF owner ON mortise_tasks
    WHEN NEW.owner <> OLD.owner AND EXISTS (SELECT 1 FROM mortise_task_owners WHERE owner = OLD.owner AND until_ms > ${NOW} + 1)
    BEGIN INSERT INTO watch_faults SELECT 'leased twice', NEW.id, until_ms - ${NOW} FROM mortise_task_owners WHERE owner = OLD.owner; END;
  CREATE TRIGGER IF NOT EXISTS watch_steps AFTER UPDATE ON mortise_steps
    BEGIN INSERT INTO watch_faults VALUES ('step written twice', NEW.task_id, NEW.key); END;
`;

function audit(database: SqliteDatabase): unknown {
  const all = (sql: string): unknown[] => database.prepare(sql).all();
  return {
    tasks: all(
      `SELECT id, record ->> '$.status' AS status, json_extract(record, '$.call.arguments.n') AS n, json_extract(record, '$.result') AS result
       FROM mortise_tasks`,
    ),
    endings: all('SELECT task_id AS id, count(*) AS count FROM watch_endings GROUP BY task_id'),
    faults: all('SELECT * FROM watch_faults'),
    leases: all('SELECT count(*) AS count, count(DISTINCT owner) AS owners FROM watch_leases'),
    running: all('SELECT max(most) AS most, count(*) AS tasks FROM watch_running'),
    steps: all('SELECT count(*) AS count FROM mortise_steps'),
  };
}

const database = await openDatabase(file);
const stores = await createSqliteStores({ database, durability: 'normal' });
database.exec(WATCH);

if (mode === 'audit') {
  process.stdout.write(JSON.stringify(audit(database)));
} else {
  // What stands in the file now must never run again: the test holds the later lines of the log against it.
  const recorded = database.prepare('SELECT task_id AS id, key FROM mortise_steps').all() as { id: string; key: string }[];
  const log = (line: string): void => appendFileSync(`${file}.log`, `${line}\n`);
  log(`start ${JSON.stringify(recorded.map(({ id, key }) => `${id} ${key}`))}`);
  await serveStdio(createServer(log));
}

function createServer(log: (line: string) => void): McpServer {
  const tasks = createTasks({
    store: stores.tasks,
    queue: new MemoryTaskQueue({ maxConcurrent: MAX_IN_HAND }),
    leaseMs: LEASE_MS,
    maxTasksPerPrincipal: 1000,
    pollIntervalMs: 200,
    maxPollsPerSecond: 1000,
  });
  const server = new McpServer({ name: 'crashing', version: '1.0.0' }, { extensions: [tasks] });
  const options = { inputSchema: { n: z.int(), steps: z.int() }, execution: { taskSupport: 'required' }, resumable: true } as const;
  server.registerTool('work', options, async ({ n, steps }, ctx) => {
    const id = `task-${n}`;
    enter(id);
    try {
      const values: number[] = [];
      for (let step = 0; step < steps; step++) {
        values.push(
          await ctx.once(`step ${step}`, async () => {
            log(`run ${n} step ${step}`);
            // Steps take from no time to twice `stepMs`, each the same in every run.
            const share = ((n * 31 + step * 17) % 100) / 100;
            await sleep(share * 2 * Number(stepMs), undefined, { signal: ctx.signal });
            return n * 100 + step;
          }),
        );
      }
      return { structuredContent: { n, values } };
    } finally {
      leave(id);
    }
  });
  server.registerTool('ask', { execution: { taskSupport: 'required' }, resumable: true }, async (ctx) => {
    const { action } = await ctx.elicit({ message: 'Shall I?', requestedSchema: { isSure: z.boolean() } });
    return action;
  });
  return server;
}

/** Counts the runs of a task in the file, over all processes. */
function enter(id: string): void {
  const sql = `INSERT INTO watch_running VALUES (?, 1, 1) ON CONFLICT (task_id) DO UPDATE SET live = live + 1, most = max(most, live + 1)`;
  database.prepare(sql).run(id);
}

function leave(id: string): void {
  database.prepare('UPDATE watch_running SET live = live - 1 WHERE task_id = ?').run(id);
}
