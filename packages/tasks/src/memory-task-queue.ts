/** `MemoryTaskQueue`: a task queue in memory, whose tasks run in this process. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { Principal, TaskQueue } from '@mortise/protocol/contracts';

/** The options of `MemoryTaskQueue`. */
export interface MemoryTaskQueueOptions {
  /**
   * The most tasks that start to run at once; others wait in order. From 2 on, the tasks of one principal (or of none) take at most all
   * places but one, so that one caller never has them all.
   *
   * A task that waits for a user's answer frees its place. It goes on as soon as the answer is there, so for a time more tasks may run.
   * How many one caller adds is limited by `maxTasksPerPrincipal`.
   *
   * @default Infinity
   */
  readonly maxConcurrent?: number | undefined;
  /** The clock that times the pause before a failed task is run again. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/** How long the queue waits before it runs a task again whose handler rejected, in milliseconds. */
const RETRY_MS = 1000;

type Handler = (taskId: string, signal: AbortSignal) => Promise<void>;

interface Worker {
  readonly handler: Handler;
  readonly controller: AbortController;
  readonly running: Set<Promise<void>>;
}

interface Job {
  readonly taskId: string;
  readonly principal: Principal | undefined;
}

/** The jobs of one principal, or of those without. */
interface Share {
  running: number;
  /** Jobs that wait until another of this principal has ended, oldest first. */
  readonly held: Set<Job>;
}

/** Gives queued tasks to the workers of this process, in order. The queue is lost with the process; the tasks stay in the task store. */
export class MemoryTaskQueue implements TaskQueue {
  readonly #clock: Clock;
  readonly #maxConcurrent: number;
  readonly #workers = new Set<Worker>();
  readonly #timers = new Set<ClockTimer>();
  /** The ids of the tasks that wait. */
  readonly #waiting = new Set<string>();
  readonly #shares = new Map<Principal | undefined, Share>();
  /** Jobs that were held until another of their principal ended. They are older than all in `#queued`. */
  readonly #released = new Set<Job>();
  /** Jobs that no worker was free for yet, oldest first. */
  readonly #queued = new Set<Job>();
  #inHand = 0;
  #isClosed = false;

  /** @throws {TypeError} An option has an unknown name or an invalid value. */
  constructor(options: MemoryTaskQueueOptions = {}) {
    checkOptions('MemoryTaskQueue options', options, { maxConcurrent: 1, clock: 'object' });
    this.#clock = options.clock ?? systemClock;
    this.#maxConcurrent = options.maxConcurrent ?? Infinity;
  }

  enqueue(taskId: string, principal?: Principal): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('The MemoryTaskQueue is closed and takes no more tasks'));
    this.#add({ taskId, principal });
    return Promise.resolve();
  }

  work(handler: Handler): () => Promise<void> {
    const worker: Worker = { handler, controller: new AbortController(), running: new Set() };
    this.#workers.add(worker);
    this.#handOut();
    return () => this.#stop(worker);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    for (const jobs of [this.#waiting, this.#shares, this.#released, this.#queued]) jobs.clear();
    await Promise.all([...this.#workers].map((worker) => this.#stop(worker)));
  }

  async #stop(worker: Worker): Promise<void> {
    this.#workers.delete(worker);
    worker.controller.abort();
    await Promise.all(worker.running);
  }

  #add(job: Job): void {
    if (this.#waiting.has(job.taskId)) return;
    this.#waiting.add(job.taskId);
    this.#queued.add(job);
    this.#handOut();
  }

  #handOut(): void {
    const [worker] = this.#workers;
    if (!worker) return;
    for (const jobs of [this.#released, this.#queued]) {
      for (const job of jobs) {
        if (this.#inHand >= this.#maxConcurrent) return;
        jobs.delete(job);
        this.#startOrHold(worker, job);
      }
    }
  }

  #startOrHold(worker: Worker, job: Job): void {
    const share = this.#shares.get(job.principal) ?? { running: 0, held: new Set() };
    this.#shares.set(job.principal, share);
    if (share.running > 0 && share.running >= this.#maxConcurrent - 1) share.held.add(job);
    else this.#start(worker, job, share);
  }

  #start(worker: Worker, job: Job, share: Share): void {
    this.#inHand++;
    share.running++;
    this.#waiting.delete(job.taskId);
    const running: Promise<void> = this.#run(worker, job).finally(() => {
      worker.running.delete(running);
      this.#inHand--;
      this.#release(job, share);
      this.#handOut();
    });
    worker.running.add(running);
  }

  /** Lets the oldest held job of a principal start, now that another of its jobs has ended. */
  #release({ principal }: Job, share: Share): void {
    share.running--;
    const [next] = share.held;
    if (next) {
      share.held.delete(next);
      this.#released.add(next);
    } else if (share.running === 0) this.#shares.delete(principal);
  }

  async #run({ handler, controller }: Worker, job: Job): Promise<void> {
    try {
      await handler(job.taskId, controller.signal);
    } catch {
      if (!this.#isClosed) this.#retry(job);
    }
  }

  #retry(job: Job): void {
    const timer = this.#clock.schedule(() => {
      this.#timers.delete(timer);
      this.#add(job);
    }, RETRY_MS);
    this.#timers.add(timer);
  }
}
