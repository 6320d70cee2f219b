/** The queues that several processes share, by the kit, against a real Redis and a real PostgreSQL. */

import { createBullmqTaskQueue } from '@mortise/tasks/bullmq';
import { createPgBossTaskQueue } from '@mortise/tasks/pg-boss';
import { setPatience } from '@mortise/transport-testkit';
import { taskQueueCases } from '@mortise/transport-testkit/task-queue';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { createClient } from '@redis/client';
import PgBoss from 'pg-boss';
import type { Logger } from '@mortise/jsonrpc-core';
import type { TaskQueue } from '@mortise/protocol/contracts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Engine, hasPostgres, hasRedis } from './support/engines.ts';

// Reached only where something never happens: a busy machine takes its time.
setPatience(60_000);

let count = 0;
const nextName = (): string => `queue-${count++}`;

/** Checks that the worker of a queue gets its own tasks, and not those of a queue with another name. */
async function expectSeparate(one: TaskQueue, other: TaskQueue): Promise<void> {
  const work = (queue: TaskQueue): Promise<string> => new Promise((resolve) => queue.work(async (taskId) => resolve(taskId)));
  await one.enqueue('of one');
  await other.enqueue('of the other');
  // Nobody else works yet: a worker of both would get the first task first.
  expect(await work(other)).toBe('of the other');
  expect(await work(one)).toBe('of one');
  await one.close();
  await other.close();
}

describe.skipIf(!hasRedis)('Redis', () => {
  const redis = new Engine();
  beforeAll(() => redis.startRedis());
  afterAll(() => redis.close());

  /** Connects to Redis. The connection does not come back when it breaks. @param name Names this connection and all copies of it. */
  const connect = async (name: string) => {
    const client = createClient({ name, socket: { path: `${redis.folder}/redis.sock`, reconnectStrategy: false } });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };

  describeKit("BullMQ's task queue", taskQueueCases, {
    traits: { shared: true, durable: true },
    async create() {
      const name = nextName();
      const ends: (() => Promise<void>)[] = [];
      const open = async () => {
        const client = await connect(`${name}-${ends.length}`);
        const queue = createBullmqTaskQueue({ connection: client, name, leaseMs: 2000 });
        ends.push(async () => {
          if (!client.isReady) return;
          await queue.close();
          client.destroy();
        });
        return queue;
      };
      const queue = await open();
      return {
        queue,
        other: await open(),
        async crash() {
          const admin = await connect('admin');
          for (const { id, name: of } of await admin.clientList())
            if (of === `${name}-0`) await admin.sendCommand(['CLIENT', 'KILL', 'ID', String(id)]);
          admin.destroy();
          return open();
        },
        close: async () => void (await Promise.all(ends.map((end) => end()))),
      };
    },
  });

  it('keeps the tasks of two names apart', async () => {
    const connection = await connect('both');
    onTestFinished(() => connection.destroy());
    const create = (): TaskQueue => createBullmqTaskQueue({ connection, name: nextName() });
    await expectSeparate(create(), create());
  });
});

describe.skipIf(!hasPostgres)('PostgreSQL', () => {
  const postgres = new Engine();
  beforeAll(() => postgres.startPostgres());
  afterAll(() => postgres.close());

  describeKit("pg-boss's task queue", taskQueueCases, {
    traits: { shared: true, durable: true },
    async create() {
      const name = nextName();
      const bosses: PgBoss[] = [];
      const open = async () => {
        const boss = new PgBoss({ host: postgres.folder, user: 'postgres', database: 'postgres', max: 2, maintenanceIntervalSeconds: 1 });
        boss.on('error', () => undefined);
        bosses.push(boss);
        await boss.start();
        const queue = await createPgBossTaskQueue({ boss, name, leaseMs: 1000, pollMs: 100 });
        return { boss, queue };
      };
      const { queue, boss } = await open();
      const other = await open();
      return {
        queue,
        other: other.queue,
        crash: async () => (await boss.stop({ graceful: false }), (await open()).queue),
        close: async () => void (await Promise.all(bosses.map((each) => each.stop({ graceful: false })))),
      };
    },
  });

  const startBoss = async (): Promise<PgBoss> => {
    const boss = new PgBoss({ host: postgres.folder, user: 'postgres', database: 'postgres', max: 2 });
    boss.on('error', () => undefined);
    await boss.start();
    onTestFinished(() => boss.stop({ graceful: false }));
    return boss;
  };

  it('keeps the tasks of two names apart', async () => {
    const boss = await startBoss();
    const create = (): Promise<TaskQueue> => createPgBossTaskQueue({ boss, name: nextName(), pollMs: 50 });
    await expectSeparate(await create(), await create());
  });

  it('is not ended by jobs of others that name no task', async () => {
    const boss = await startBoss();
    const log = vi.fn<Logger['log']>();
    const name = nextName();
    const queue = await createPgBossTaskQueue({ boss, name, pollMs: 50, logger: { log } });
    await boss.send(name, null as never);
    await boss.send(name, { taskId: 7 }, { singletonKey: 'other' });
    await queue.enqueue('task-1');
    const handled = await new Promise((resolve) => queue.work(async (taskId) => resolve(taskId)));
    expect(handled).toBe('task-1');
    await vi.waitUntil(() => log.mock.calls.length === 2, { timeout: 60_000 });
    expect(String(log.mock.calls[0]?.[2]?.['error'])).toContain('names no task');
    await queue.close();
  });
});

it('needs a name, because two programs in one engine must not take the tasks of each other', async () => {
  expect(() => createBullmqTaskQueue({ connection: {}, name: '' })).toThrow('"name" is missing');
  await expect(createPgBossTaskQueue({ boss: {} as never, name: '' })).rejects.toThrow('createPgBossTaskQueue options');
});
