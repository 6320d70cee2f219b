/** One timer for many deadlines: with equal timeouts only the first request of a burst has to set it. */

import type { Clock, ClockTimer, HoldableTimer } from '../instruments.ts';

/**
 * Wakes its owner at the earliest of many deadlines. All times are by `Clock.monotonicMs`.
 *
 * While something with a deadline waits, the timer keeps the process alive. When nothing waits any more it stays set for what comes next, but
 * does not keep the process alive.
 */
export class DeadlineTimer {
  readonly #clock: Clock;
  readonly #onDue: (nowMs: number) => number;
  #timer: (ClockTimer & Partial<HoldableTimer>) | undefined;
  #timerAtMs = Infinity;
  #waiting = 0;

  /** @param onDue Ends what is due, and returns when to be called next (`Infinity`: when `add` or `moveTo` says so). */
  constructor(clock: Clock, onDue: (nowMs: number) => number) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Something begins to wait. `Infinity` is not a deadline. */
  add(deadlineMs: number): void {
    if (deadlineMs === Infinity) return;
    this.#waiting += 1;
    if (deadlineMs < this.#timerAtMs) this.#arm(deadlineMs);
    else if (this.#waiting === 1) this.#timer?.hold?.();
  }

  /** Something that was added does not wait any more. */
  remove(deadlineMs: number): void {
    if (deadlineMs === Infinity) return;
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    if (this.#timer?.release) this.#timer.release();
    else this.#disarm();
  }

  /** Something that waits may now be due as early as this. A deadline that moves back needs no call: the timer fires early and looks again. */
  moveTo(deadlineMs: number): void {
    if (this.#waiting > 0 && deadlineMs < this.#timerAtMs) this.#arm(deadlineMs);
  }

  /** Nothing waits any more. */
  stop(): void {
    this.#waiting = 0;
    this.#disarm();
  }

  #arm(atMs: number): void {
    this.#timer?.cancel();
    this.#timerAtMs = atMs;
    this.#timer = this.#clock.schedule(() => this.#wake(), Math.max(0, atMs - this.#clock.monotonicMs()), { keepAlive: true });
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAtMs = Infinity;
  }

  #wake(): void {
    this.#disarm();
    this.moveTo(this.#onDue(this.#clock.monotonicMs()));
  }
}
