/**
 * What an operation costs beside 1,000 and beside 100,000 open tasks, in each engine that is installed:
 * `node scripts/start.mjs --from-source scripts/robustness/engines.ts [--engine redis|postgres]`.
 */

import type { ClusterStores } from '@mortise/protocol/contracts';
import { parseArgs } from 'node:util';
import { createPostgresStores } from '@mortise/store-postgres';
import { createRedisStores } from '@mortise/store-redis';
import { hasPostgres, PostgresServer } from '../../packages/store-postgres/test/postgres-server.ts';
import { hasRedis, RedisServer } from '../../packages/store-redis/test/redis-server.ts';

const HOUR_MS = 3_600_000;
const TERMS = { leaseMs: HOUR_MS, maxOpen: 1000 };
/** How many tasks are open, a hundred of each principal. There are half as many sessions. */
const SIZES = [1000, 100_000] as const;
const OWNERS = 4;
const REPEATS = 200;

const task = (n: number, size: number) => ({
  id: `task-${n}`,
  principal: `principal ${n % (size / 100)}`,
  generation: 'extension',
  status: 'working' as const,
  driver: 'engine' as const,
  resumable: true,
  asks: [],
  call: { tool: 'report', arguments: { text: 'x'.repeat(200) }, principal: 'p', revision: 'r', clientCapabilities: {}, scopes: [] },
  createdAtMs: 1_800_000_000_000 + n,
  updatedAtMs: 1_800_000_000_000 + n,
  ttlMs: HOUR_MS,
});

/** Runs `fn` for the numbers from `from` to `to`, 20 at once. */
async function fill(from: number, to: number, fn: (n: number) => Promise<unknown>): Promise<void> {
  let next = from;
  const work = async (): Promise<void> => {
    while (next < to) await fn(next++);
  };
  await Promise.all(Array.from({ length: 20 }, work));
}

/** The time of the fastest of some calls, one after the other, in microseconds: a busy machine changes it least. */
async function timeOf(count: number, fn: (n: number) => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let n = 0; n < count; n++) {
    const start = performance.now();
    await fn(n);
    least = Math.min(least, performance.now() - start);
  }
  return Math.round(least * 1000);
}

/** The number of the next task that a measurement creates. */
let next = 10_000_000;

async function measure({ tasks, sessions, events }: ClusterStores, size: number): Promise<Readonly<Record<string, number>>> {
  const spread = (n: number): number => (n * 7919) % size;
  const first = next;
  next += REPEATS;
  const stream = `p${first}`;
  const claims = await events.claim?.('s', stream);
  return {
    'poll a task': await timeOf(REPEATS, (n) => tasks.get(`task-${spread(n)}`)),
    'list 50 tasks': await timeOf(REPEATS, (n) => tasks.list(`principal ${n % (size / 100)}`, { limit: 50 })),
    'create a task': await timeOf(REPEATS, (n) => tasks.create(task(first + n, size), TERMS)),
    'change a task': await timeOf(REPEATS, (n) => tasks.update(`task-${first + n}`, 1, { statusMessage: 'half' })),
    'end a task': await timeOf(REPEATS, (n) => tasks.update(`task-${first + n}`, 2, { status: 'completed', result: {} })),
    'look for orphans': await timeOf(REPEATS, () => tasks.claimOrphans(HOUR_MS, 100)),
    'renew an owner of a quarter of the tasks': await timeOf(10, () => tasks.renew('owner 1', HOUR_MS)),
    'read a session': await timeOf(REPEATS, (n) => sessions.get(`session-${spread(n) % (size / 2)}`, HOUR_MS)),
    'store an event': await timeOf(REPEATS, () => events.append('s', stream, { jsonrpc: '2.0', method: 'm' }, claims)),
  };
}

async function run(name: string, stores: ClusterStores): Promise<void> {
  const found: Readonly<Record<string, number>>[] = [];
  let from = 0;
  for (const size of SIZES) {
    const start = performance.now();
    await fill(from, size, (n) => stores.tasks.create({ ...task(n, size), owner: `owner ${n % OWNERS}` }, TERMS));
    await fill(from / 2, size / 2, (n) => stores.sessions.put({ id: `session-${n}`, principal: 'p', state: { layout: 1 } }, 0, HOUR_MS));
    console.log(`${name}: ${size} open tasks and ${size / 2} sessions after ${Math.round(performance.now() - start)} ms`);
    from = size;
    // Once without a note: connections are opened, and plans made.
    await measure(stores, size);
    found.push(await measure(stores, size));
  }
  console.log(`\n| ${name}, us | ${SIZES.join(' | ')} |\n|---|---|---|`);
  for (const what of Object.keys(found[0] ?? {})) console.log(`| ${what} | ${found.map((each) => each[what]).join(' | ')} |`);
}

const { engine } = parseArgs({ options: { engine: { type: 'string' } } }).values;
if (hasRedis && engine !== 'postgres') {
  const server = new RedisServer();
  try {
    await server.start();
    const stores = await createRedisStores({ url: (await server.openProxy()).url });
    await run('Redis', stores);
    await stores.close();
  } finally {
    await server.close();
  }
}
if (hasPostgres && engine !== 'redis') {
  const server = new PostgresServer();
  try {
    await server.start();
    const stores = await createPostgresStores({ url: server.url });
    await run('PostgreSQL', stores);
    await stores.close();
  } finally {
    await server.close();
  }
}
