/** `@mortise/transport-testkit/fake-clock`: time that passes when a test says so. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';

interface FakeTimer {
  readonly atMs: number;
  readonly fn: () => void;
}

/** A `Clock` whose time stands still until `advance`; it then fires what is due, in order, before `advance` returns. */
export class FakeClock implements Clock {
  #nowMs: number;
  readonly #timers = new Set<FakeTimer>();
  #onSchedule: (() => void)[] = [];

  /** @param startMs What `now` and `monotonicMs` say at first. @default 1000000 */
  constructor(startMs = 1_000_000) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  /** How many timers run. */
  get running(): number {
    return this.#timers.size;
  }

  /** How long the timers that run have to go, in milliseconds, soonest first. */
  get delaysMs(): readonly number[] {
    return [...this.#timers].map(({ atMs }) => atMs - this.#nowMs).sort((a, b) => a - b);
  }

  schedule(fn: () => void, delayMs: number): ClockTimer {
    const timer: FakeTimer = { atMs: this.#nowMs + delayMs, fn };
    this.#timers.add(timer);
    for (const wake of this.#onSchedule.splice(0)) wake();
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Resolves once a timer runs. */
  async untilScheduled(): Promise<void> {
    while (this.#timers.size === 0) await new Promise<void>((resolve) => this.#onSchedule.push(resolve));
  }

  /** Lets `ms` milliseconds pass. A timer that fires may set others, which fire too where they are due. */
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
