/** `@mortise/transport-testkit/fake-clock`: a clock that a test advances. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';

interface FakeTimer {
  readonly atMs: number;
  readonly fn: () => void;
}

/** A `Clock` whose time moves only with `advance`, which fires the due timers in order before it returns. */
export class FakeClock implements Clock {
  #nowMs: number;
  readonly #timers = new Set<FakeTimer>();
  #onSchedule: (() => void)[] = [];

  /** @param startMs The time that `now` and `monotonicMs` first return, in milliseconds. @default 1000000 */
  constructor(startMs = 1_000_000) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  /** How many timers of this clock are running. */
  get running(): number {
    return this.#timers.size;
  }

  /** The remaining times of the running timers, in milliseconds, soonest first. */
  get delaysMs(): readonly number[] {
    return [...this.#timers].map(({ atMs }) => atMs - this.#nowMs).sort((a, b) => a - b);
  }

  schedule(fn: () => void, delayMs: number): ClockTimer {
    const timer: FakeTimer = { atMs: this.#nowMs + delayMs, fn };
    this.#timers.add(timer);
    for (const wake of this.#onSchedule.splice(0)) wake();
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Resolves once at least one timer of this clock is running. */
  async untilScheduled(): Promise<void> {
    while (this.#timers.size === 0) await new Promise<void>((resolve) => this.#onSchedule.push(resolve));
  }

  /** Advances the time by `ms` milliseconds and fires the timers that are due, including those that a firing timer schedules. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      this.#timers.delete(next);
      next.fn();
    }
    this.#nowMs = untilMs;
  }
}
