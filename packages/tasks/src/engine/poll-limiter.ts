/** Limits how often one task may be polled. */

import type { Clock } from '@mortise/jsonrpc-core';
import { TaskLimitError } from '../errors.ts';

/** The most tasks that are counted. Beyond that, the task polled longest ago is dropped. */
const MAX_REMEMBERED = 20_000;
/** How many seconds' worth of polls may come in one burst. */
const BURST_SECONDS = 3;

export class PollLimiter {
  readonly #clock: Clock;
  readonly #perSecond: number;
  /** By task id: the polls that are left, and the time of the last poll. */
  readonly #buckets = new Map<string, { readonly credit: number; readonly atMs: number }>();

  constructor(perSecond: number, clock: Clock) {
    this.#clock = clock;
    this.#perSecond = perSecond;
  }

  /** Counts a poll. @returns undefined, or the error for a task polled too often, with the time to wait. */
  take(id: string): TaskLimitError | undefined {
    const perSecond = this.#perSecond;
    if (perSecond === Infinity) return undefined;
    const burst = perSecond * BURST_SECONDS;
    const atMs = this.#clock.monotonicMs();
    const last = this.#buckets.get(id) ?? { credit: burst, atMs };
    const credit = Math.min(burst, last.credit + ((atMs - last.atMs) / 1000) * perSecond);
    this.#remember(id, { credit: credit >= 1 ? credit - 1 : credit, atMs });
    if (credit >= 1) return undefined;
    const waitMs = Math.ceil(((1 - credit) / perSecond) * 1000);
    return new TaskLimitError(`This task was polled too often: poll again in ${waitMs} ms, and keep to its poll interval`, waitMs);
  }

  #remember(id: string, bucket: { readonly credit: number; readonly atMs: number }): void {
    this.#buckets.delete(id);
    this.#buckets.set(id, bucket);
    if (this.#buckets.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}
