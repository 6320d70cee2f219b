/** Limits how often one task may be polled. */

import type { Clock, Meter } from '@mortise/jsonrpc-core';
import { TaskLimitError } from '../errors.ts';
import type { TaskLimits } from './task-creator.ts';

/** How many tasks are remembered; the one that was polled longest ago is forgotten first. */
const MAX_REMEMBERED = 20_000;
/** How many seconds' polls may come at once. */
const BURST_SECONDS = 3;

export class PollLimiter {
  readonly #clock: Clock;
  readonly #meter: Meter | undefined;
  readonly #perSecond: number;
  readonly #intervalMs: number;
  /** By task: how many polls it has left, and when it was last polled. */
  readonly #buckets = new Map<string, { readonly credit: number; readonly atMs: number }>();

  constructor({ maxPollsPerSecond = 10, pollIntervalMs = 1000 }: TaskLimits, clock: Clock, meter: Meter | undefined) {
    this.#clock = clock;
    this.#meter = meter;
    this.#perSecond = maxPollsPerSecond;
    this.#intervalMs = pollIntervalMs;
  }

  /** @throws {TaskLimitError} `ERR_TASK_LIMIT`: the task was polled too often; says when to come back. */
  take(id: string): void {
    const perSecond = this.#perSecond;
    const burst = Math.max(1, perSecond * BURST_SECONDS);
    const atMs = this.#clock.monotonicMs();
    const { credit: left, atMs: beforeMs } = this.#buckets.get(id) ?? { credit: burst, atMs: -Infinity };
    if (atMs - beforeMs < this.#intervalMs / 2) this.#meter?.count('mcp.tasks.fast_polls', 1);
    // No earlier poll, or no limit: the bucket is full. (Infinity times 0 is NaN.)
    const credit = left === burst ? burst : Math.min(burst, left + ((atMs - beforeMs) / 1000) * perSecond);
    this.#remember(id, { credit: credit >= 1 ? credit - 1 : credit, atMs });
    if (credit >= 1) return;
    this.#meter?.count('mcp.tasks.refused_polls', 1);
    const retryAfterMs = Math.ceil(((1 - credit) / perSecond) * 1000);
    throw new TaskLimitError(
      `This task was polled too often: ask again in ${retryAfterMs} ms, and keep to its poll interval`,
      retryAfterMs,
    );
  }

  #remember(id: string, bucket: { readonly credit: number; readonly atMs: number }): void {
    this.#buckets.delete(id);
    this.#buckets.set(id, bucket);
    if (this.#buckets.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}
