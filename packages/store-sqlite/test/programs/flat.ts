/** What flat-figures.test.ts has a process of its own do: `flat.ts <scenario>`. Prints JSON. */

import { createSqliteStores, type SqliteDatabase, type SqliteStatement } from '@mortise/store-sqlite';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { countCpuMs } from '../../../../scripts/test/cpu-time.ts';
import { openDatabase } from './open-database.ts';

const [, , scenario = ''] = process.argv;
const HOUR_MS = 3_600_000;
const clock = new FakeClock(10 * HOUR_MS);

/** What a database was asked to do. */
interface Watched {
  readonly database: SqliteDatabase;
  /** The statement of each write, in order, with those that begin and end transactions. */
  readonly writes: string[];
  /** The most rows that one statement changed. */
  most: number;
  /** Thrown by the next write. */
  fault?: Error | undefined;
}

async function watch(): Promise<Watched> {
  const real = await openDatabase(':memory:');
  const note = (sql: string): void => {
    const { fault } = watched;
    watched.fault = undefined;
    if (fault) throw fault;
    watched.writes.push(sql.trim().split(/\s/, 1)[0] ?? '');
  };
  const watched: Watched = {
    writes: [],
    most: 0,
    database: {
      exec(sql) {
        if (/^(?:BEGIN|COMMIT)/.test(sql)) note(sql);
        real.exec(sql);
      },
      prepare(sql): SqliteStatement {
        const statement = real.prepare(sql);
        return {
          run(...values) {
            note(sql);
            const done = statement.run(...values);
            watched.most = Math.max(watched.most, Number(done.changes));
            return done;
          },
          get(...values) {
            if (!/^\s*SELECT/.test(sql)) note(sql);
            return statement.get(...values);
          },
          all: (...values) => statement.all(...values),
        };
      },
      close: () => real.close(),
    },
  };
  return watched;
}

const task = {
  generation: 'g',
  principal: 'ada',
  status: 'working',
  driver: 'engine',
  resumable: true,
  asks: [],
  createdAtMs: clock.now(),
  updatedAtMs: clock.now(),
  ttlMs: null,
} as const;

/** The CPU time of 2,048 appends beside events of other streams, and the most rows that a statement changed. Half of the events have expired, or none. */
async function appendBeside(
  events: number,
  haveExpired = false,
): Promise<{ readonly cpuMs: number; readonly most: number; readonly left: number }> {
  const watched = await watch();
  const stores = await createSqliteStores({ database: watched.database, clock });
  const later = clock.now() + HOUR_MS;
  watched.database.exec(`INSERT INTO mortise_events (session_id, stream_id, place, expires_at_ms)
    WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${events})
    SELECT 's' || (n % 1000), 'x', n / 1000, CASE WHEN n % 2 THEN ${haveExpired ? 0 : later} ELSE ${later} END FROM n`);
  const cpuMs = countCpuMs();
  for (let n = 0; n < 2048; n++) await stores.events.append('s1', n % 2 ? 'one' : 'other', { jsonrpc: '2.0', method: 'm' });
  const figures = { cpuMs: cpuMs(), most: watched.most };
  const [row] = watched.database.prepare(`SELECT count(*) AS left FROM mortise_events WHERE expires_at_ms = 0`).all() as { left: number }[];
  return { ...figures, left: row?.left ?? 0 };
}

/** The CPU time of starting and ending 500 tasks beside finished ones, some of the same principal. */
async function startBeside(finished: number): Promise<number> {
  const database = await openDatabase(':memory:');
  const { tasks } = await createSqliteStores({ database, clock });
  database.exec(`INSERT INTO mortise_tasks (id, principal, state, created_at_ms, ended_at_ms, held_until_ms, version, record)
    WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${finished})
    SELECT 'old ' || n, CASE n % 5 WHEN 0 THEN 'ada' ELSE 'p' || (n % 5) END, 'end', n, n, n, 1, '{}' FROM n`);
  const cpuMs = countCpuMs();
  for (let n = 0; n < 500; n++) {
    await tasks.create({ ...task, id: `${n}` }, { maxOpen: 100, leaseMs: HOUR_MS });
    await tasks.update(`${n}`, 1, { status: 'completed' });
  }
  return cpuMs();
}

const scenarios: Readonly<Record<string, () => Promise<unknown>>> = {
  async append() {
    // The first run is for the compiler.
    const [, few, many] = [await appendBeside(100), await appendBeside(100), await appendBeside(100_000)];
    return { few, many, expired: await appendBeside(100_000, true) };
  },
  async trim() {
    const { database } = await watch();
    const stores = await createSqliteStores({ database, clock, events: { maxEventsPerStream: 10 } });
    const ids = ['one', 'other', 'third'];
    for (let n = 0; n < 3000; n++) await stores.events.append('s', ids[n % 3] ?? '', undefined);
    const rows = database.prepare('SELECT count(*) AS kept FROM mortise_events GROUP BY stream_id').all() as { kept: number }[];
    return rows.map(({ kept }) => kept);
  },
  async start() {
    const [, few, many] = [await startBeside(10), await startBeside(10), await startBeside(45_000)];
    return { few, many };
  },
  async renew() {
    const watched = await watch();
    const { tasks } = await createSqliteStores({ database: watched.database, clock });
    for (let n = 0; n < 500; n++) await tasks.create({ ...task, id: `${n}` }, { leaseMs: HOUR_MS });
    for (let n = 0; n < 500; n++) await tasks.claim(`${n}`, n === 7 ? 'other' : 'me', HOUR_MS);
    watched.writes.length = 0;
    watched.most = 0;
    const held = await tasks.renew('me', HOUR_MS);
    const writes = [...watched.writes];
    watched.fault = new Error('the disk is full');
    const failed = await tasks.renew('me', HOUR_MS).catch((error: unknown) => (error as Error).message);
    return { held: held.length, writes, most: watched.most, failed };
  },
  async sweep() {
    const watched = await watch();
    const { tasks, sessions } = await createSqliteStores({ database: watched.database, clock });
    watched.database.exec(`INSERT INTO mortise_sessions (id, record, version, expires_at_ms)
      WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 3000) SELECT 's' || n, '{}', 1, 1 FROM n`);
    watched.database.exec(`INSERT INTO mortise_tasks (id, principal, state, created_at_ms, expires_at_ms, held_until_ms, version, record)
      WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 3000) SELECT 't' || n, 'ada', 'run', n, 1, 1, 1, '{}' FROM n`);
    // Expired rows are deleted once in 256 writes.
    for (let n = 0; n < 3 * 256; n++) {
      await sessions.put({ id: `${n}`, principal: 'ada', state: { layout: 1 } }, 0, HOUR_MS);
      await tasks.create({ ...task, id: `${n}` }, { leaseMs: HOUR_MS });
    }
    const count = (table: string): unknown => watched.database.prepare(`SELECT count(*) AS count FROM ${table}`).all();
    return { most: watched.most, left: [count('mortise_sessions'), count('mortise_tasks')] };
  },
  async orphans() {
    const figures: number[] = [];
    // The first run is for the compiler.
    for (const open of [100, 100, 100_000]) {
      const database = await openDatabase(':memory:');
      const { tasks } = await createSqliteStores({ database, clock });
      database.exec(`INSERT INTO mortise_tasks (id, principal, state, created_at_ms, version, record, owner, held_until_ms)
        WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${open})
        SELECT 't' || n, 'ada', 'run', n, 1, '{}', CASE n % 2 WHEN 1 THEN 'a' END, CASE n % 2 WHEN 1 THEN 9e15 ELSE 1e15 END FROM n`);
      await tasks.renew('a', HOUR_MS);
      const cpuMs = countCpuMs();
      for (let n = 0; n < 500; n++) await tasks.claimOrphans(HOUR_MS, 100);
      figures.push(cpuMs());
    }
    return { few: figures[1], many: figures[2] };
  },
};

const outcome = await scenarios[scenario]?.();
process.stdout.write(JSON.stringify(outcome));
