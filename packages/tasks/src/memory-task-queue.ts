/** `MemoryTaskQueue`: runs of tasks in this process, so many at a time. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { TaskQueue } from '@mortise/protocol/contracts';

/** How `MemoryTaskQueue` works. */
export interface MemoryTaskQueueOptions {
  /** How many jobs are in hand at once; the others wait in their order. A task that waits for an answer is in hand. @default Infinity */
  readonly maxConcurrent?: number | undefined;
  /** How long a job whose handler rejected waits before it is given out again, in milliseconds. @default 1_000 */
  readonly retryDelayMs?: number | undefined;
  /** Runs the timer of `retryDelayMs`. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

type Handler = (taskId: string, signal: AbortSignal) => Promise<void>;

interface Worker {
  readonly handler: Handler;
  readonly controller: AbortController;
  readonly running: Set<Promise<void>>;
}

/** Hands jobs to the workers of this process, in the order in which they came. What waits is lost with the process; the engine finds it again. */
export class MemoryTaskQueue implements TaskQueue {
  readonly #clock: Clock;
  readonly #maxConcurrent: number;
  readonly #retryDelayMs: number;
  readonly #workers: Worker[] = [];
  readonly #timers = new Set<ClockTimer>();
  readonly #waiting: string[] = [];
  #inHand = 0;
  #next = 0;
  #isClosed = false;

  /** @throws {TypeError} An option has an unknown name or an invalid value. */
  constructor(options: MemoryTaskQueueOptions = {}) {
    checkOptions('MemoryTaskQueue options', options, { maxConcurrent: 1, retryDelayMs: 0, clock: 'object' });
    this.#clock = options.clock ?? systemClock;
    this.#maxConcurrent = options.maxConcurrent ?? Infinity;
    this.#retryDelayMs = options.retryDelayMs ?? 1000;
  }

  enqueue(taskId: string, options: { readonly delayMs?: number } = {}): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('The queue is closed: it takes no more tasks'));
    const { delayMs = 0 } = options;
    if (delayMs > 0) this.#later(taskId, delayMs);
    else {
      this.#waiting.push(taskId);
      this.#handOut();
    }
    return Promise.resolve();
  }

  work(handler: Handler): () => Promise<void> {
    const worker: Worker = { handler, controller: new AbortController(), running: new Set() };
    this.#workers.push(worker);
    this.#handOut();
    return async () => {
      const index = this.#workers.indexOf(worker);
      if (index >= 0) this.#workers.splice(index, 1);
      worker.controller.abort();
      await Promise.all(worker.running);
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#waiting.length = 0;
    const workers = this.#workers.splice(0);
    for (const { controller } of workers) controller.abort();
    await Promise.all(workers.flatMap(({ running }) => [...running]));
  }

  #handOut(): void {
    while (this.#workers.length > 0 && this.#inHand < this.#maxConcurrent) {
      const taskId = this.#waiting.shift();
      if (taskId === undefined) return;
      const worker = this.#workers[this.#next++ % this.#workers.length];
      if (worker) this.#start(worker, taskId);
    }
  }

  #start(worker: Worker, taskId: string): void {
    this.#inHand++;
    const running: Promise<void> = this.#run(worker, taskId).finally(() => {
      worker.running.delete(running);
      this.#inHand--;
      this.#handOut();
    });
    worker.running.add(running);
  }

  async #run({ handler, controller }: Worker, taskId: string): Promise<void> {
    try {
      await handler(taskId, controller.signal);
    } catch {
      if (!this.#isClosed) this.#later(taskId, this.#retryDelayMs);
    }
  }

  #later(taskId: string, delayMs: number): void {
    const timer = this.#clock.schedule(() => {
      this.#timers.delete(timer);
      this.#waiting.push(taskId);
      this.#handOut();
    }, delayMs);
    this.#timers.add(timer);
  }
}
