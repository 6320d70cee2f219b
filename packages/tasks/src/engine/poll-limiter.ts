/** How often one task may be asked for. */

import type { Clock, Meter } from '@mortise/jsonrpc-core';
import { TaskLimitError } from '../errors.ts';
import type { TaskLimits } from './engine-options.ts';

/** How many tasks are remembered; the one that was asked for longest ago is forgotten first. */
const MAX_REMEMBERED = 20_000;

interface Bucket {
  credit: number;
  atMs: number;
}

export class PollLimiter {
  readonly #clock: Clock;
  readonly #meter: Meter | undefined;
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #intervalMs: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limits: TaskLimits, clock: Clock, meter: Meter | undefined) {
    this.#clock = clock;
    this.#meter = meter;
    this.#burst = limits.pollBurst ?? 30;
    this.#perSecond = limits.pollsPerSecond ?? 10;
    this.#intervalMs = limits.pollIntervalMs ?? 1000;
  }

  /** @throws {TaskLimitError} `ERR_TASK_LIMIT`: the task was asked for too often; says when to come back. */
  take(id: string): void {
    const now = this.#clock.monotonicMs();
    const bucket = this.#buckets.get(id);
    if (!bucket) return this.#remember(id, { credit: this.#burst - 1, atMs: now });
    const sinceMs = now - bucket.atMs;
    if (sinceMs < this.#intervalMs / 2) this.#meter?.count('mcp.tasks.fast_polls', 1);
    // In no time at all an endless rate earns no number.
    const earned = this.#perSecond === Infinity ? Infinity : (sinceMs / 1000) * this.#perSecond;
    const credit = Math.min(this.#burst, bucket.credit + earned);
    this.#buckets.delete(id);
    this.#remember(id, { credit: credit >= 1 ? credit - 1 : credit, atMs: now });
    if (credit >= 1) return;
    this.#meter?.count('mcp.tasks.refused_polls', 1);
    const retryAfterMs = Math.ceil(((1 - credit) / this.#perSecond) * 1000);
    throw new TaskLimitError(
      `This task was asked for too often: ask again in ${retryAfterMs} ms, and keep to its poll interval`,
      retryAfterMs,
    );
  }

  #remember(id: string, bucket: Bucket): void {
    this.#buckets.set(id, bucket);
    if (this.#buckets.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}
