/** Time that passes when a test says so. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';

export class FakeClock implements Clock {
  #nowMs = 1_000_000;
  readonly #timers = new Set<{ readonly atMs: number; readonly fn: () => void }>();
  #wake: (() => void)[] = [];

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  schedule(fn: () => void, delayMs: number): ClockTimer {
    const timer = { atMs: this.#nowMs + delayMs, fn };
    this.#timers.add(timer);
    for (const wake of this.#wake.splice(0)) wake();
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Resolves once a timer runs. */
  async untilScheduled(): Promise<void> {
    while (this.#timers.size === 0) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** Lets time pass and fires what was due, in order. */
  advance(ms: number): void {
    this.#nowMs += ms;
    const due = [...this.#timers].filter(({ atMs }) => atMs <= this.#nowMs).sort((one, other) => one.atMs - other.atMs);
    for (const timer of due) if (this.#timers.delete(timer)) timer.fn();
  }
}
