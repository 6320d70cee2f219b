/** A steady rhythm that runs while there is something to look at, with one timer however much that is. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';

/** How many beats may be missed before the timer counts as lost. Some platforms drop timers with the request that set them. */
const LOST_AFTER_BEATS = 2;

export class Beat {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #look: () => boolean;
  #timer: ClockTimer | undefined;
  #dueAtMs = 0;

  /** @param look Called on each beat. @returns whether there is still something to look at. */
  constructor(clock: Clock, everyMs: number, look: () => boolean) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#look = look;
  }

  /** There is something to look at. Costs next to nothing where the rhythm runs already. @returns What the clock says, in milliseconds. */
  start(): number {
    const now = this.#clock.monotonicMs();
    if (this.#timer !== undefined && now < this.#dueAtMs + LOST_AFTER_BEATS * this.#everyMs) return now;
    this.#timer?.cancel();
    this.#arm(now);
    return now;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(now: number): void {
    this.#dueAtMs = now + this.#everyMs;
    this.#timer = this.#clock.schedule(this.#onBeat, this.#everyMs);
  }

  readonly #onBeat = (): void => {
    this.#timer = undefined;
    if (this.#look()) this.#arm(this.#clock.monotonicMs());
  };
}
