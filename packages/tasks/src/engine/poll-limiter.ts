/** Limits how often one task may be polled. */

import type { Clock } from '@mortise/jsonrpc-core';
import { TaskLimitError } from '../errors.ts';

/** How many tasks are remembered; the one that was polled longest ago is forgotten first. */
const MAX_REMEMBERED = 20_000;
/** How many seconds' polls may come at once. */
const BURST_SECONDS = 3;

export class PollLimiter {
  readonly #clock: Clock;
  readonly #perSecond: number;
  /** By task: how many polls it has left, and when it was last polled. */
  readonly #buckets = new Map<string, { readonly credit: number; readonly atMs: number }>();

  constructor(perSecond: number, clock: Clock) {
    this.#clock = clock;
    this.#perSecond = perSecond;
  }

  /** @returns undefined, or the error for a task that was polled too often; it says when to come back. */
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
    return new TaskLimitError(`This task was polled too often: ask again in ${waitMs} ms, and keep to its poll interval`, waitMs);
  }

  #remember(id: string, bucket: { readonly credit: number; readonly atMs: number }): void {
    this.#buckets.delete(id);
    this.#buckets.set(id, bucket);
    if (this.#buckets.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}
