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
   * How many one caller adds is bounded by `maxTasksPerPrincipal`.
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

/** Gives queued tasks to the workers of this process, in order. The queue is lost with the process; the tasks stay in the task store. */
export class MemoryTaskQueue implements TaskQueue {
  readonly #clock: Clock;
  readonly #maxConcurrent: number;
  readonly #workers = new Set<Worker>();
  readonly #timers = new Set<ClockTimer>();
  /** The tasks that wait, oldest first, each with its principal. */
  readonly #queued = new Map<string, Principal | undefined>();
  /** How many tasks of each principal run. */
  readonly #running = new Map<Principal | undefined, number>();
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
    this.#add(taskId, principal);
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
    this.#queued.clear();
    await Promise.all([...this.#workers].map((worker) => this.#stop(worker)));
  }

  async #stop(worker: Worker): Promise<void> {
    this.#workers.delete(worker);
    worker.controller.abort();
    await Promise.all(worker.running);
  }

  #add(taskId: string, principal: Principal | undefined): void {
    if (this.#queued.has(taskId)) return;
    this.#queued.set(taskId, principal);
    this.#handOut();
  }

  #handOut(): void {
    const [worker] = this.#workers;
    if (!worker) return;
    for (const [taskId, principal] of this.#queued) {
      if (this.#inHand >= this.#maxConcurrent) return;
      const running = this.#running.get(principal) ?? 0;
      if (running > 0 && running >= this.#maxConcurrent - 1) continue;
      this.#queued.delete(taskId);
      this.#start(worker, taskId, principal);
    }
  }

  #start(worker: Worker, taskId: string, principal: Principal | undefined): void {
    this.#count(principal, 1);
    const running: Promise<void> = this.#run(worker, taskId, principal).finally(() => {
      worker.running.delete(running);
      this.#count(principal, -1);
      this.#handOut();
    });
    worker.running.add(running);
  }

  #count(principal: Principal | undefined, by: 1 | -1): void {
    this.#inHand += by;
    const running = (this.#running.get(principal) ?? 0) + by;
    if (running > 0) this.#running.set(principal, running);
    else this.#running.delete(principal);
  }

  async #run({ handler, controller }: Worker, taskId: string, principal: Principal | undefined): Promise<void> {
    try {
      await handler(taskId, controller.signal);
    } catch {
      if (!this.#isClosed) this.#retry(taskId, principal);
    }
  }

  #retry(taskId: string, principal: Principal | undefined): void {
    const timer = this.#clock.schedule(() => {
      this.#timers.delete(timer);
      this.#add(taskId, principal);
    }, RETRY_MS);
    this.#timers.add(timer);
  }
}
