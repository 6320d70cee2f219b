/** `@mortise/tasks/pg-boss`: a task queue in PostgreSQL, by pg-boss, that several processes share. */

import type { ClockTimer, Logger } from '@mortise/jsonrpc-core';
import { checkOptions, guardLogger, silentLogger, systemClock } from '@mortise/jsonrpc-core/transport';
import type { TaskQueue } from '@mortise/protocol/contracts';

/** What the queue needs of pg-boss: a `PgBoss` that was started. */
export interface PgBossClient {
  createQueue(name: string, options: never): Promise<unknown>;
  send(name: string, data: object, options: object): Promise<string | null>;
  fetch(name: string, options: { readonly batchSize: number }): Promise<readonly { readonly id: string; readonly data: unknown }[] | null>;
  complete(name: string, id: string): Promise<unknown>;
  fail(name: string, id: string): Promise<unknown>;
}

/** The options of `createPgBossTaskQueue`. */
export interface PgBossTaskQueueOptions {
  /** A `PgBoss` of pg-boss 10 or later that was started. The program stops it, after the server. */
  readonly boss: PgBossClient;
  /**
   * The name of the queue. Processes that share a task store use the same name. Other programs of this PgBoss need another name, or they
   * take these tasks.
   */
  readonly name: string;
  /** The most tasks that one worker runs at once. A task that waits for a user's answer does not count. @default 100 */
  readonly maxConcurrent?: number | undefined;
  /**
   * How long after the crash of a process its tasks are given to another, in milliseconds. pg-boss looks at intervals too.
   *
   * @default 30_000
   */
  readonly leaseMs?: number | undefined;
  /** How often a worker looks for tasks that another process added, in milliseconds. @default 1_000 */
  readonly pollMs?: number | undefined;
  /** Gets the errors of PostgreSQL. @default nothing is logged */
  readonly logger?: Logger | undefined;
}

interface WorkerInit {
  readonly boss: PgBossClient;
  readonly name: string;
  readonly handler: Parameters<TaskQueue['work']>[0];
  readonly maxConcurrent: number;
  readonly pollMs: number;
  readonly onError: (error: unknown) => void;
}

/** pg-boss gives up a job at a count. Tasks have no such count: those that cannot go on end in the task store. */
const NEVER = 2 ** 31 - 1;

/**
 * Creates a queue of tasks in PostgreSQL, and in pg-boss the queue that it uses.
 *
 * Does NOT keep one caller from taking all workers, as `MemoryTaskQueue` does.
 *
 * @throws {TypeError} An option is missing, unknown or has a wrong value.
 * @throws Errors of pg-boss.
 */
export async function createPgBossTaskQueue(options: PgBossTaskQueueOptions): Promise<TaskQueue> {
  checkOptions('createPgBossTaskQueue options', options, {
    boss: { methods: ['createQueue', 'send', 'fetch', 'complete', 'fail'] },
    name: 'string',
    maxConcurrent: 1,
    leaseMs: 1000,
    pollMs: 1,
    logger: { methods: ['log'] },
  });
  if (options.boss === undefined) throw new TypeError('createPgBossTaskQueue options: "boss" is missing: pass a PgBoss that was started');
  if (!options.name) throw new TypeError('createPgBossTaskQueue options: "name" is missing: name the queue after the program');
  const { boss, name, maxConcurrent = 100, leaseMs = 30_000, pollMs = 1000 } = options;
  const logger = guardLogger(options.logger ?? silentLogger);
  // Of jobs with one key, a queue of the policy `short` has one that waits, and any that are in hand.
  await boss.createQueue(name, { name, policy: 'short' } as never);
  const workers = new Set<Worker>();
  return {
    async enqueue(taskId) {
      const expireInSeconds = Math.ceil(leaseMs / 1000);
      await boss.send(name, { taskId }, { singletonKey: taskId, retryLimit: NEVER, retryDelay: 1, expireInSeconds });
      for (const worker of workers) worker.wake();
    },
    work(handler) {
      const onError = (error: unknown): void => logger.log('error', 'The task queue has an error', { error: String(error) });
      const worker = new Worker({ boss, name, handler, maxConcurrent, pollMs, onError });
      workers.add(worker);
      return () => {
        workers.delete(worker);
        return worker.stop();
      };
    },
    async close() {
      await Promise.all([...workers].map((worker) => worker.stop()));
    },
  };
}

/**
 * Fetches tasks while it has room for more. pg-boss has workers of its own, but each of those takes its next jobs when all of its last have
 * ended.
 */
class Worker {
  readonly #init: WorkerInit;
  readonly #controller = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #loop: Promise<void>;
  #timer: ClockTimer | undefined;
  #wake = (): void => undefined;
  #isWoken = false;

  constructor(init: WorkerInit) {
    this.#init = init;
    this.#loop = this.#work();
  }

  /** Looks for tasks now. */
  wake(): void {
    this.#isWoken = true;
    this.#timer?.cancel();
    this.#wake();
  }

  /** Takes no more tasks. Resolves when those in hand have ended. */
  async stop(): Promise<void> {
    this.#controller.abort();
    this.wake();
    await this.#loop;
    await Promise.all(this.#running);
  }

  async #work(): Promise<void> {
    const { boss, name, maxConcurrent } = this.#init;
    const { signal } = this.#controller;
    while (!signal.aborted) {
      this.#isWoken = false;
      const batchSize = maxConcurrent - this.#running.size;
      const jobs = batchSize > 0 ? await this.#try(() => boss.fetch(name, { batchSize })) : undefined;
      for (const { id, data } of jobs ?? []) this.#start(id, data);
      if (!jobs?.length && !this.#isWoken) await this.#pause();
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#timer = systemClock.schedule(resolve, this.#init.pollMs);
    });
  }

  #start(id: string, data: unknown): void {
    const { boss, name } = this.#init;
    const run = async (): Promise<void> => {
      const isDone = await this.#handle(data);
      await this.#try(() => (isDone ? boss.complete(name, id) : boss.fail(name, id)));
    };
    const running: Promise<void> = run().finally(() => {
      this.#running.delete(running);
      this.wake();
    });
    this.#running.add(running);
  }

  /** @returns false for a job that comes again. */
  #handle(data: unknown): Promise<boolean> | boolean {
    const { name, handler, onError } = this.#init;
    const { signal } = this.#controller;
    const taskId = (data as { readonly taskId?: unknown } | null)?.taskId;
    if (typeof taskId !== 'string') {
      onError(new TypeError(`A job of the queue "${name}" names no task, and is dropped: other programs need queues of their own`));
      return true;
    }
    // Fetched while the worker stopped.
    if (signal.aborted) return false;
    return handler(taskId, signal).then(
      () => true,
      () => false,
    );
  }

  /** An error is logged. A job whose end could not be stored comes again, as after a crash. */
  async #try<T>(fn: () => Promise<T>): Promise<T | undefined> {
    try {
      return await fn();
    } catch (error) {
      this.#init.onError(error);
      return undefined;
    }
  }
}
