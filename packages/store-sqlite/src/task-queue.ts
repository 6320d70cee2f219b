/** `TaskQueue` over SQLite: jobs that outlive the process, for the workers of all processes that have the file open. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import type { TaskQueue } from '@mortise/protocol/contracts';
import { LIMIT, number, type SqliteConnection, text } from './connection.ts';

/** How the queue works. */
export interface SqliteQueueOptions {
  /** How many jobs a process has in hand at once. @default 100 */
  readonly maxConcurrent?: number | undefined;
  /** How often a worker looks for jobs that other processes accepted, in milliseconds. @default 250 */
  readonly pollMs?: number | undefined;
  /** How long a job belongs to a process that gives no sign of life, in milliseconds. @default 30_000 */
  readonly leaseMs?: number | undefined;
  /** How long a job whose handler rejected waits before it is given out again, in milliseconds. @default 1_000 */
  readonly retryDelayMs?: number | undefined;
}

type Handler = (taskId: string, signal: AbortSignal) => Promise<void>;

/** Jobs in a file. Promises Q1 and Q2 of `TaskQueue`. */
export class SqliteTaskQueue implements TaskQueue {
  readonly #db: SqliteConnection;
  readonly #clock: Clock;
  readonly #options: { readonly [K in keyof SqliteQueueOptions]-?: number };
  readonly #workers = new Set<Worker>();

  constructor(connection: SqliteConnection, clock: Clock, options: SqliteQueueOptions = {}) {
    this.#db = connection;
    this.#clock = clock;
    this.#options = {
      maxConcurrent: options.maxConcurrent ?? 100,
      pollMs: options.pollMs ?? 250,
      leaseMs: options.leaseMs ?? 30_000,
      retryDelayMs: options.retryDelayMs ?? 1000,
    };
  }

  async enqueue(taskId: string, options: { readonly delayMs?: number } = {}): Promise<void> {
    const { delayMs = 0 } = options;
    this.#db.run('INSERT INTO mortise_jobs (task_id, due_at_ms) VALUES (?, ?)', taskId, this.#clock.now() + delayMs);
    for (const worker of this.#workers) worker.lookIn(delayMs);
  }

  work(handler: Handler): () => Promise<void> {
    const worker = new Worker(this.#db, this.#clock, this.#options, handler);
    this.#workers.add(worker);
    worker.lookIn(0);
    return async () => {
      this.#workers.delete(worker);
      await worker.stop();
    };
  }

  async close(): Promise<void> {
    const workers = [...this.#workers];
    this.#workers.clear();
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

/** One worker: takes what is due and renews what it has in hand. */
class Worker {
  readonly #db: SqliteConnection;
  readonly #clock: Clock;
  readonly #options: { readonly [K in keyof SqliteQueueOptions]-?: number };
  readonly #handler: Handler;
  readonly #owner = crypto.randomUUID();
  readonly #controller = new AbortController();
  readonly #running = new Map<number, Promise<void>>();
  #timer: ClockTimer | undefined;
  #timerAtMs = Infinity;
  #renewedAtMs = 0;
  #isStopped = false;

  constructor(db: SqliteConnection, clock: Clock, options: { readonly [K in keyof SqliteQueueOptions]-?: number }, handler: Handler) {
    this.#db = db;
    this.#clock = clock;
    this.#options = options;
    this.#handler = handler;
  }

  /** Sees to it that the worker looks for jobs soon. */
  lookIn(delayMs: number): void {
    const atMs = this.#clock.now() + delayMs;
    if (this.#isStopped || atMs >= this.#timerAtMs) return;
    this.#timer?.cancel();
    this.#timerAtMs = atMs;
    this.#timer = this.#clock.schedule(() => this.#look(), delayMs);
  }

  async stop(): Promise<void> {
    if (!this.#isStopped) this.#controller.abort();
    this.#isStopped = true;
    // What is in hand still has to be renewed; nothing new is taken.
    await Promise.all(this.#running.values());
    this.#timer?.cancel();
  }

  #look(): void {
    this.#timerAtMs = Infinity;
    const { maxConcurrent, pollMs } = this.#options;
    try {
      this.#renew();
      const free = this.#isStopped ? 0 : maxConcurrent - this.#running.size;
      if (free > 0) for (const row of this.#take(free)) this.#start(number(row, 'number'), text(row, 'task_id'));
    } catch {
      // The file is busy for longer than its timeout, or closed: the next look tells.
    }
    if (!this.#isStopped || this.#running.size > 0) {
      this.#timerAtMs = this.#clock.now() + pollMs;
      this.#timer = this.#clock.schedule(() => this.#look(), pollMs);
    }
  }

  #take(limit: number): ReturnType<SqliteConnection['all']> {
    const now = this.#clock.now();
    const due = `SELECT number FROM mortise_jobs WHERE due_at_ms <= ? AND lease_until_ms <= ? ORDER BY due_at_ms, number ${LIMIT}`;
    // A look that finds nothing must not take the right to write.
    if (this.#db.get(due, now, now, 1) === undefined) return [];
    return this.#db.all(
      `UPDATE mortise_jobs SET owner = ?, lease_until_ms = ? WHERE number IN (${due}) RETURNING number, task_id`,
      this.#owner,
      now + this.#options.leaseMs,
      now,
      now,
      limit,
    );
  }

  #renew(): void {
    const now = this.#clock.now();
    const { leaseMs } = this.#options;
    if (this.#running.size === 0 || now - this.#renewedAtMs < leaseMs / 3) return;
    this.#renewedAtMs = now;
    this.#db.run('UPDATE mortise_jobs SET lease_until_ms = ? WHERE owner = ?', now + leaseMs, this.#owner);
  }

  #start(job: number, taskId: string): void {
    const run = this.#run(job, taskId).finally(() => {
      this.#running.delete(job);
      if (!this.#isStopped) this.lookIn(0);
    });
    this.#running.set(job, run);
  }

  async #run(job: number, taskId: string): Promise<void> {
    let isDone = true;
    try {
      await this.#handler(taskId, this.#controller.signal);
    } catch {
      isDone = false;
    }
    try {
      if (isDone) this.#db.run('DELETE FROM mortise_jobs WHERE number = ? AND owner = ?', job, this.#owner);
      else this.#giveBack(job);
    } catch {
      // The file was closed: the job's lease ends by itself, and it is given out again.
    }
  }

  #giveBack(job: number): void {
    this.#db.run(
      'UPDATE mortise_jobs SET owner = NULL, lease_until_ms = 0, due_at_ms = ? WHERE number = ? AND owner = ?',
      this.#clock.now() + this.#options.retryDelayMs,
      job,
      this.#owner,
    );
    this.lookIn(this.#options.retryDelayMs);
  }
}
