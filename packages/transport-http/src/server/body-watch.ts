/** One timer for all bodies that are being read, so that a request costs none. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import type { BodyWatch, WatchedBody } from './http-request.ts';

const TICK_MS = 1000;

/** Looks once a second, while anything is being read, for bodies past their bound. */
export class BodySweep implements BodyWatch {
  readonly #clock: Clock;
  readonly #readings: Set<WatchedBody> = new Set();
  #timer: ClockTimer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(reading: WatchedBody): void {
    this.#readings.add(reading);
    this.#timer ??= this.#clock.schedule(this.#sweep, TICK_MS);
  }

  delete(reading: WatchedBody): void {
    // The timer is left to find the set empty: stopping and starting it with each request would cost more than one idle tick.
    this.#readings.delete(reading);
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#readings.clear();
  }

  readonly #sweep = (): void => {
    this.#timer = undefined;
    const now = this.#clock.monotonicMs();
    for (const reading of this.#readings) {
      if (now - reading.startedAtMs < reading.timeoutMs) continue;
      this.#readings.delete(reading);
      reading.onTimeout();
    }
    if (this.#readings.size > 0) this.#timer = this.#clock.schedule(this.#sweep, TICK_MS);
  };
}
