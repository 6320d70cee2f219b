/** Time that passes when a test says so. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';

export class TestClock implements Clock {
  #nowMs = 1_800_000_000_000;

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  schedule(): ClockTimer {
    return { cancel: () => undefined };
  }

  pass(ms: number): void {
    this.#nowMs += ms;
  }
}
