/** A clock that moves only when a test says so. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';

interface FakeTimer extends ClockTimer {
  readonly atMs: number;
  readonly fn: () => void;
  readonly keepAlive: boolean;
}

export class FakeClock implements Clock {
  #nowMs = 1_000;
  readonly #timers = new Set<FakeTimer>();

  get timerCount(): number {
    return this.#timers.size;
  }

  /** How long the timers that wait were set for, soonest first. */
  get delaysMs(): readonly number[] {
    return [...this.#timers].map((timer) => timer.atMs - this.#nowMs).sort((a, b) => a - b);
  }

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  schedule(fn: () => void, delayMs: number, options?: { readonly keepAlive?: boolean }): ClockTimer {
    const timer: FakeTimer = {
      atMs: this.#nowMs + delayMs,
      fn,
      keepAlive: options?.keepAlive === true,
      cancel: () => this.#timers.delete(timer),
    };
    this.#timers.add(timer);
    return timer;
  }

  /** Moves the time on, firing what is due in order. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (;;) {
      const [next] = [...this.#timers].filter((timer) => timer.atMs <= endMs).sort((a, b) => a.atMs - b.atMs);
      if (!next) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.fn();
    }
    this.#nowMs = endMs;
  }
}
