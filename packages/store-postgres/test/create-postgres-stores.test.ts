/** Opening the stores, losing PostgreSQL and finding it again, and what is refused. */

import { createPostgresStores, type PostgresStoresOptions, PostgresStoreError } from '@mortise/store-postgres';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  expectBoundedStreams,
  expectNoLongWait,
  expectOwnIds,
  expectRefusals,
  expectSeparate,
} from '../../../scripts/test/store-clusters.ts';
import { hasPostgres, PostgresServer } from './postgres-server.ts';

const HOUR_MS = 3_600_000;
const NOWHERE = 'postgres://postgres@127.0.0.1:1/postgres';
const session = (id: string) => ({ id, principal: 'ada', state: { layout: 1 } });

it.each<[string, PostgresStoresOptions, RegExp]>([
  ['neither url nor pool', {}, /set "url" or "pool", and not both/],
  ['a quote in the schema', { url: NOWHERE, schema: 'a"b' }, /"schema" must be a name/],
  ['a bound that is not a number', { url: NOWHERE, waitMs: NaN }, /"waitMs" must be a number, 1 or more/],
  ['what is no pool', { pool: {} as never }, /"pool" must be an object with a function "connect"/],
])('[ROBUSTNESS-7] refuses %s', async (_, options, message) => {
  await expect(createPostgresStores(options)).rejects.toThrow(message);
});

it('says that PostgreSQL is not there, after the time that a call waits', async () => {
  const opened = createPostgresStores({ url: NOWHERE, waitMs: 200 });
  await expect(opened).rejects.toThrow(PostgresStoreError);
  await expect(opened).rejects.toMatchObject({ code: 'ERR_POSTGRES_UNAVAILABLE' });
});

describe.skipIf(!hasPostgres)('stores in a PostgreSQL', () => {
  const server = new PostgresServer();
  let count = 0;
  beforeAll(() => server.start());
  afterAll(() => server.close());

  async function open(options: Partial<PostgresStoresOptions> = {}) {
    const line = await server.openProxy();
    const stores = await createPostgresStores({ url: line.url, schema: `s${count++}`, waitMs: 60_000, ...options });
    onTestFinished(() => stores.close());
    return { ...stores, line };
  }

  async function openPool(): Promise<Pool> {
    const pool = new Pool({ connectionString: server.url });
    pool.on('error', () => undefined);
    onTestFinished(() => void pool.end());
    return pool;
  }

  it('sees nothing of a cluster with another schema', async () => {
    const [one, other] = [await open({ schema: 'one' }), await open({ schema: 'other' })];
    await expectSeparate(one, other);
  });

  it('tells ids apart that only UTF-16 can tell apart', async () => expectOwnIds(await open({ schema: 'ids' })));

  it('[ROBUSTNESS-17] replays 16 MiB of a stream, and keeps 64 MiB of the streams of a session', async () => {
    const stores = await open({ schema: 'bytes' });
    const { events } = stores;
    await expectBoundedStreams(stores);
    const text = 'x'.repeat(3 * 2 ** 20);
    const starts: string[] = [];
    for (let n = 0; n < 25; n++) {
      starts.push((await events.append('t', `stream ${n}`, undefined)) ?? '');
      await events.append('t', `stream ${n}`, { jsonrpc: '2.0', method: 'm', params: { text } });
    }
    await vi.waitFor(async () => {
      const found = await Promise.all(starts.map(async (id) => (await events.replay('t', id))?.events.length));
      // The last 22 large ones are kept: 64 MiB, and one more.
      expect(found).toEqual(starts.map((_, n) => (n < 4 ? undefined : 1)));
    }, 60_000);
  });

  it('is not up where nothing can be written', async () => {
    await open({ schema: 'read_only' });
    const pool = new Pool({ connectionString: server.url, options: '-c default_transaction_read_only=on' });
    onTestFinished(() => void pool.end());
    const stores = await createPostgresStores({ pool, schema: 'read_only' });
    expect(await stores.health()).toMatchObject({ isUp: false, problems: [expect.stringContaining('read-only')] });
    await stores.close();
  });

  it('logs once that the bus lost its connection, and that it has one again', async () => {
    const logged: string[] = [];
    const logger = { log: (level: string, message: string) => void (message.includes('bus') && logged.push(`${level}: ${message}`)) };
    const stores = await open({ logger });
    await stores.bus.subscribe('a', () => undefined);
    stores.line.cut();
    const lost = 'warning: The message bus lost its connection to PostgreSQL';
    await vi.waitFor(() => expect(logged).toEqual([lost]), 60_000);
    stores.line.mend();
    await vi.waitFor(() => expect(logged).toEqual([lost, 'info: The message bus has a connection to PostgreSQL again']), 60_000);
  });

  it('[ROBUSTNESS-8] refuses what belongs to another principal, on any machine', async () =>
    expectRefusals(await open({ schema: 'refusals' })));

  it('lets no call wait longer than it may while the engine hangs, and closes', async () => {
    const stores = await open({ schema: 'hangs', waitMs: 1000 });
    onTestFinished(() => server.resume());
    await expectNoLongWait(stores, () => server.pause());
    await stores.close();
    server.resume();
    await stores.line.idle();
  });

  it('creates its tables once where four machines start at the same time', async () => {
    const machines = await Promise.all(Array.from({ length: 4 }, () => open({ schema: 'four' })));
    for (const [n, { sessions }] of machines.entries())
      expect(await sessions.put(session(`s${n}`), 0, HOUR_MS)).toEqual({ isWritten: true });
    const pool = await openPool();
    expect((await pool.query('SELECT version FROM four.migrations')).rows).toEqual([{ version: 1 }]);
  });

  it('refuses tables that a newer version has changed', async () => {
    await open({ schema: 'newer' });
    const pool = await openPool();
    await pool.query('UPDATE newer.migrations SET version = 1000');
    const opened = createPostgresStores({ pool, schema: 'newer' });
    await expect(opened).rejects.toMatchObject({ code: 'ERR_POSTGRES_SCHEMA', message: /update the package/ });
  });

  it('waits while PostgreSQL is gone, then goes on with all that it acknowledged, and tells subscribers of the gap', async () => {
    const pool = await openPool();
    const stores = await open({ url: undefined, pool });
    let reportGap = (): void => undefined;
    const gap = new Promise<void>((resolve) => (reportGap = resolve));
    await stores.bus.subscribe(
      'a',
      () => undefined,
      () => reportGap(),
    );
    await stores.sessions.put(session('kept'), 0, HOUR_MS);
    await server.kill();
    // Without a connection nothing of these calls is sent before PostgreSQL is there again.
    await vi.waitFor(() => expect(pool.idleCount).toBe(0), 60_000);
    const late = Array.from({ length: 20 }, (_, n) => stores.sessions.put(session(`late ${n}`), 0, HOUR_MS));
    await server.start();
    expect(await Promise.all(late)).toEqual(late.map(() => ({ isWritten: true })));
    expect((await stores.sessions.get('kept', HOUR_MS))?.version).toBe(1);
    await gap;
    expect(await stores.health()).toEqual({ isUp: true, problems: [] });
  });

  it('rejects what waits too long, and what is too much, and says what is down', async () => {
    const stores = await open({ waitMs: 1000 });
    await stores.bus.subscribe('a', () => undefined);
    stores.line.cut();
    const calls = await Promise.allSettled(Array.from({ length: 10_007 }, (_, n) => stores.sessions.get(`s${n}`, HOUR_MS)));
    const reasons = calls.map((call) => (call.status === 'rejected' ? (call.reason as PostgresStoreError) : undefined));
    expect(new Set(reasons.map((reason) => reason?.code))).toEqual(new Set(['ERR_POSTGRES_UNAVAILABLE']));
    expect(reasons.filter((reason) => reason?.message.includes('10000 calls wait'))).toHaveLength(7);
    const { isUp, problems } = await stores.health();
    expect({ isUp, problems: problems.map((problem) => problem.slice(0, 30)) }).toEqual({
      isUp: false,
      problems: ['The stores do not work: Postgr', 'The message bus gets no messag'],
    });
    stores.line.mend();
  });

  it('gives up what PostgreSQL does not answer, and does not use that connection again', async () => {
    const stores = await open({ waitMs: 1000 });
    const pool = await openPool();
    const blocker = await pool.connect();
    await blocker.query(`BEGIN; LOCK TABLE s${count - 1}.sessions`);
    const started = performance.now();
    await expect(stores.sessions.get('s', HOUR_MS)).rejects.toMatchObject({ code: 'ERR_POSTGRES_UNAVAILABLE' });
    expect(performance.now() - started).toBeGreaterThanOrEqual(990);
    await blocker.query('ROLLBACK');
    blocker.release();
    expect(await stores.sessions.get('s', HOUR_MS)).toBeUndefined();
  });

  it('takes no more connections than its pool has, however many calls wait for a lock', async () => {
    const stores = await open({ schema: 'locked', waitMs: 500 });
    const pool = await openPool();
    const blocker = await pool.connect();
    await blocker.query('BEGIN; LOCK TABLE locked.sessions');
    // More calls than connections, as they come to a machine.
    const refused: Promise<unknown>[] = [];
    for (let n = 0; n < 60; n++) {
      refused.push(stores.sessions.get('s', HOUR_MS).catch((error: unknown) => (error as PostgresStoreError).code));
      await new Promise((resolve) => void setTimeout(resolve, 25));
    }
    const { rows } = await blocker.query(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`);
    expect(Number((rows as { count: string }[])[0]?.count)).toBeLessThanOrEqual(10);
    expect(new Set(await Promise.all(refused))).toEqual(new Set(['ERR_POSTGRES_UNAVAILABLE']));
    await blocker.query('ROLLBACK');
    blocker.release();
    await vi.waitFor(async () => expect(await stores.sessions.get('s', HOUR_MS)).toBeUndefined(), 60_000);
  });

  it('passes on what PostgreSQL refuses, with its reason', async () => {
    const stores = await open();
    const pool = await openPool();
    await pool.query(`DROP TABLE s${count - 1}.states`);
    await expect(stores.states.get('s')).rejects.toMatchObject({ code: 'ERR_POSTGRES_REPLY', message: /states" does not exist/ });
  });

  it("uses the program's pool, and leaves it open", async () => {
    const pool = await openPool();
    const stores = await createPostgresStores({ pool });
    await stores.bus.subscribe('a', () => undefined);
    await stores.states.put('s', 'x', HOUR_MS);
    await stores.close();
    await stores.close();
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await expect(stores.bus.subscribe('a', () => undefined)).rejects.toThrow(/closed/);
    await expect(stores.states.get('s')).rejects.toThrow(/closed/);
  });

  it('leaves no connection behind when it is closed, also while PostgreSQL is gone', async () => {
    const [one, gone] = [await open(), await open()];
    for (const stores of [one, gone]) await stores.bus.subscribe('a', () => undefined);
    gone.line.cut();
    await Promise.all([one.close(), gone.close()]);
    await expect(one.states.get('s')).rejects.toMatchObject({ code: 'ERR_POSTGRES_UNAVAILABLE' });
    await Promise.all([one.line, gone.line].map((line) => line.idle()));
  });

  it('has room for ids with a NUL, which PostgreSQL has not', async () => {
    const stores = await open();
    await stores.sessions.put({ ...session('a\0'), principal: 'p\0' }, 0, HOUR_MS);
    expect(await stores.sessions.get('a\0', HOUR_MS)).toMatchObject({ id: 'a\0', principal: 'p\0' });
    expect(await stores.sessions.get('a', HOUR_MS)).toBeUndefined();
  });
});
