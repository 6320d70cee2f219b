/** One timer for all bodies that are being read, so that a request costs none. */

import type { Clock } from '@mortise/jsonrpc-core';
import { Beat } from './beat.ts';
import type { BodyWatch, WatchedBody } from './http-request.ts';
import { Slots } from './slots.ts';

/** A body may stay this much over its bound. */
const EVERY_MS = 250;

/** Looks a few times a second, while anything is being read, for bodies past their bound. */
export class BodySweep implements BodyWatch {
  readonly #clock: Clock;
  readonly #beat: Beat;
  readonly #readings: Slots<WatchedBody> = new Slots();
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beat = new Beat(clock, EVERY_MS, () => this.#sweep());
  }

  add(reading: WatchedBody): void {
    if (this.#isClosed) return reading.stop('closing');
    this.#readings.add(reading);
    reading.startedAtMs = this.#beat.start();
  }

  delete(reading: WatchedBody): void {
    // The timer is left to find the set empty: stopping and starting it with each request would cost more than one idle beat.
    this.#readings.delete(reading);
  }

  /** Ends all that are being read, and those that come. */
  close(): void {
    this.#isClosed = true;
    this.#beat.stop();
    for (const reading of this.#readings.all()) {
      this.#readings.delete(reading);
      reading.stop('closing');
    }
  }

  #sweep(): boolean {
    const now = this.#clock.monotonicMs();
    for (const reading of this.#readings.all()) {
      if (now - reading.startedAtMs < reading.timeoutMs) continue;
      this.#readings.delete(reading);
      reading.stop('timeout');
    }
    return this.#readings.size > 0;
  }
}
