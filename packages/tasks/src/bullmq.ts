/** `@mortise/tasks/bullmq`: a task queue in Redis, by BullMQ, that several processes share. */

import type { Logger } from '@mortise/jsonrpc-core';
import { checkOptions, guardLogger, silentLogger } from '@mortise/jsonrpc-core/transport';
import type { TaskQueue } from '@mortise/protocol/contracts';
import { type ConnectionOptions, Queue, Worker } from 'bullmq';

/** The options of `createBullmqTaskQueue`. */
export interface BullmqTaskQueueOptions {
  /**
   * A connected client of `redis`, `@redis/client` or `ioredis`. Workers connect by copies of it. The program closes it, after the server.
   */
  readonly connection: ConnectionOptions;
  /**
   * The name of the queue. Processes that share a task store use the same name. Other programs in this Redis need another name, or they
   * take these tasks. For a Redis Cluster write it in braces: `{reports-tasks}`.
   */
  readonly name: string;
  /** The most tasks that one worker runs at once. A task that waits for a user's answer does not count. @default 100 */
  readonly maxConcurrent?: number | undefined;
  /** How long after the crash of a process its tasks are given to another, in milliseconds. @default 30_000 */
  readonly leaseMs?: number | undefined;
  /** Gets the errors of Redis. @default nothing is logged */
  readonly logger?: Logger | undefined;
}

/** How long BullMQ waits before it gives out a task again whose handler rejected, in milliseconds. */
const RETRY_MS = 1000;
/** BullMQ gives up a job at a count. Tasks have no such count: those that cannot go on end in the task store. */
const NEVER = 2 ** 31 - 1;

/**
 * Creates a queue of tasks in Redis.
 *
 * Does NOT keep one caller from taking all workers, as `MemoryTaskQueue` does.
 *
 * @throws {TypeError} An option is missing, unknown or has a wrong value.
 */
export function createBullmqTaskQueue(options: BullmqTaskQueueOptions): TaskQueue {
  checkOptions('createBullmqTaskQueue options', options, {
    connection: 'object',
    name: 'string',
    maxConcurrent: 1,
    leaseMs: 1000,
    logger: { methods: ['log'] },
  });
  const { connection, name, maxConcurrent = 100, leaseMs = 30_000 } = options;
  if (connection === undefined)
    throw new TypeError('createBullmqTaskQueue options: "connection" is missing: pass a connected client of Redis');
  if (!name) throw new TypeError('createBullmqTaskQueue options: "name" is missing: name the queue after the program');
  const logger = guardLogger(options.logger ?? silentLogger);
  const onError = (error: Error): void => logger.log('error', 'The task queue has an error', { error: String(error) });
  const queue = new Queue(name, { connection, skipMetasUpdate: true });
  queue.on('error', onError);
  const stops = new Set<() => Promise<void>>();
  return {
    async enqueue(taskId) {
      await queue.add(
        'task',
        { taskId },
        {
          // A task that waits is not added again. One that a worker has in hand is added when that has ended.
          deduplication: { id: taskId, keepLastIfActive: true },
          attempts: NEVER,
          backoff: { type: 'fixed', delay: RETRY_MS },
          removeOnComplete: true,
        },
      );
    },
    work(handler) {
      const controller = new AbortController();
      const worker = new Worker<{ readonly taskId: string }>(name, ({ data }) => handler(data.taskId, controller.signal), {
        connection,
        concurrency: maxConcurrent,
        // A job is given out again at the first look after its lock is over.
        lockDuration: leaseMs / 2,
        stalledInterval: leaseMs / 2,
        maxStalledCount: NEVER,
      });
      worker.on('error', onError);
      let stopped: Promise<void> | undefined;
      const stop = (): Promise<void> => {
        controller.abort();
        stops.delete(stop);
        return (stopped ??= worker.close());
      };
      stops.add(stop);
      return stop;
    },
    async close() {
      await Promise.all([...stops].map((stop) => stop()));
      await queue.close();
    },
  };
}
