/** `MemoryTaskQueue`: runs of tasks in this process, so many at a time. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { TaskQueue } from '@mortise/protocol/contracts';

/** How `MemoryTaskQueue` works. */
export interface MemoryTaskQueueOptions {
  /** How many jobs are in hand at once; the others wait in their order. A task that waits for an answer is in hand. @default Infinity */
  readonly maxConcurrent?: number | undefined;
  /** Times the second after which a job whose handler rejected is given out again. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/** How long a job whose handler rejected waits before it is given out again, in milliseconds. */
const RETRY_MS = 1000;

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
    if (this.#isClosed) return Promise.reject(new Error('The queue is closed: it takes no more tasks'));
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
