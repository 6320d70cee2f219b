/** The deadlines of many calls on one timer: with equal timeouts only the first call of a burst has to set it. */

import { type Clock, type ClockTimer, isHoldableTimer } from '../instruments.ts';

/** A call with a deadline. */
export interface Deadline {
  /** When it has waited long enough, by `Clock.monotonicMs`; `Infinity` for never. May move while it waits, but not to or from `Infinity`. */
  readonly deadlineMs: number;
  /** Its time is over; or it moves its deadline. Must not throw. */
  expire(nowMs: number): void;
}

/**
 * Ends calls whose time is over. While a call with an end waits, the timer keeps the process alive, so that who waits is told; when none
 * waits any more it stays set for the next one, and keeps nothing alive.
 */
export class DeadlineTable {
  readonly #clock: Clock;
  readonly #calls: () => Iterable<Deadline>;
  #timer: ClockTimer | undefined;
  #timerAtMs = Infinity;
  #waiting = 0;
  #isPaused = false;

  /** @param calls Those that wait now. */
  constructor(clock: Clock, calls: () => Iterable<Deadline>) {
    this.#clock = clock;
    this.#calls = calls;
  }

  /** A call begins to wait. */
  add({ deadlineMs }: Deadline): void {
    if (deadlineMs === Infinity) return;
    this.#waiting += 1;
    if (deadlineMs < this.#timerAtMs) this.#arm(deadlineMs);
    else if (this.#waiting === 1) this.#hold();
  }

  /** A call that was added waits no longer. */
  delete({ deadlineMs }: Deadline): void {
    if (deadlineMs === Infinity) return;
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#release();
  }

  /** Ends no call until `resume`. */
  pause(): void {
    this.#isPaused = true;
  }

  /** The deadlines have been moved by the time that passed meanwhile. */
  resume(): void {
    this.#isPaused = false;
    this.#disarm();
    if (this.#waiting > 0) this.#sweep();
  }

  /** Forgets all calls. */
  stop(): void {
    this.#waiting = 0;
    this.#disarm();
  }

  #hold(): void {
    if (this.#timer && isHoldableTimer(this.#timer)) this.#timer.hold();
  }

  #release(): void {
    if (!this.#timer) return;
    if (isHoldableTimer(this.#timer)) this.#timer.release();
    else this.#disarm();
  }

  #arm(atMs: number): void {
    this.#timer?.cancel();
    this.#timerAtMs = atMs;
    this.#timer = this.#clock.schedule(() => this.#sweep(), Math.max(0, atMs - this.#clock.monotonicMs()), { keepAlive: true });
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAtMs = Infinity;
  }

  #sweep(): void {
    this.#disarm();
    if (this.#isPaused) return;
    const nowMs = this.#clock.monotonicMs();
    let nextMs = Infinity;
    for (const call of [...this.#calls()]) {
      if (call.deadlineMs <= nowMs) call.expire(nowMs);
      // A call may have put its end off.
      if (call.deadlineMs > nowMs) nextMs = Math.min(nextMs, call.deadlineMs);
    }
    // Callers hear of it later, so nothing but a host that throws could have set the timer in between.
    if (nextMs < this.#timerAtMs) this.#arm(nextMs);
  }
}
