/** `MemoryTaskQueue`: a task queue in memory, whose tasks run in this process. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { TaskQueue } from '@mortise/protocol/contracts';

/** The options of `MemoryTaskQueue`. */
export interface MemoryTaskQueueOptions {
  /** The most tasks that run at once; others wait in order. A task that waits for a user's answer counts as running. @default Infinity */
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
  readonly #waiting = new Set<string>();
  #inHand = 0;
  #isClosed = false;

  /** @throws {TypeError} An option has an unknown name or an invalid value. */
  constructor(options: MemoryTaskQueueOptions = {}) {
    checkOptions('MemoryTaskQueue options', options, { maxConcurrent: 1, clock: 'object' });
    this.#clock = options.clock ?? systemClock;
    this.#maxConcurrent = options.maxConcurrent ?? Infinity;
  }

  enqueue(taskId: string): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('The MemoryTaskQueue is closed and takes no more tasks'));
    this.#waiting.add(taskId);
    this.#handOut();
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
    this.#waiting.clear();
    await Promise.all([...this.#workers].map((worker) => this.#stop(worker)));
  }

  async #stop(worker: Worker): Promise<void> {
    this.#workers.delete(worker);
    worker.controller.abort();
    await Promise.all(worker.running);
  }

  #handOut(): void {
    const [worker] = this.#workers;
    if (!worker) return;
    for (const taskId of this.#waiting) {
      if (this.#inHand >= this.#maxConcurrent) return;
      this.#waiting.delete(taskId);
      this.#start(worker, taskId);
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
      if (!this.#isClosed) this.#retry(taskId);
    }
  }

  #retry(taskId: string): void {
    const timer = this.#clock.schedule(() => {
      this.#timers.delete(timer);
      this.#waiting.add(taskId);
      this.#handOut();
    }, RETRY_MS);
    this.#timers.add(timer);
  }
}
