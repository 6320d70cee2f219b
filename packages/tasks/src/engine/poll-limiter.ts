/** Limits how often clients may poll one task. */

import type { Clock } from '@mortise/jsonrpc-core';
import { TaskLimitError } from '../errors.ts';

/** The most tasks whose polls are counted. Beyond that, the count of the task that was polled longest ago is dropped. */
const MAX_REMEMBERED = 20_000;
/** A client may send as many polls of a task at once as are allowed in this many seconds. */
const BURST_SECONDS = 3;

export class PollLimiter {
  readonly #clock: Clock;
  readonly #perSecond: number;
  /** By task id: how many polls are still allowed now, and the time of the last poll. */
  readonly #buckets = new Map<string, { readonly credit: number; readonly atMs: number }>();

  constructor(perSecond: number, clock: Clock) {
    this.#clock = clock;
    this.#perSecond = perSecond;
  }

  /** Counts a poll of a task. @returns undefined if the poll is allowed; otherwise the error, with the time to wait. */
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
