/** Time that passes when a test says so. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';

interface Timer {
  readonly atMs: number;
  readonly fn: () => void;
}

export class FakeClock implements Clock {
  #nowMs = 1_000_000;
  readonly #timers = new Set<Timer>();
  #onSchedule: (() => void)[] = [];

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

  schedule(fn: () => void, delayMs: number): ClockTimer {
    const timer = { atMs: this.#nowMs + delayMs, fn };
    this.#timers.add(timer);
    for (const wake of this.#onSchedule.splice(0)) wake();
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Resolves once a timer runs. */
  async untilScheduled(): Promise<void> {
    while (this.#timers.size === 0) await new Promise<void>((resolve) => this.#onSchedule.push(resolve));
  }

  /** Lets time pass and fires what is due, in order. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
      if (!next) break;
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      this.#timers.delete(next);
      next.fn();
    }
    this.#nowMs = untilMs;
  }
}
