/** The deadlines of many calls on one timer: with equal timeouts only the first call of a burst has to set it. */

import { type Clock, type ClockTimer, isHoldableTimer } from '../instruments.ts';
import { DEFAULT_MAX_TIMEOUT_MS, type TimeLimit } from './time-limit.ts';

/**
 * Ends calls whose time is over. While a call with an end waits, the timer keeps the process alive, so that who waits is told; when none
 * waits any more it stays set for the next one, and keeps nothing alive.
 */
export class DeadlineTable {
  readonly #clock: Clock;
  readonly #calls: () => Iterable<TimeLimit>;
  readonly #mostPausedMs: number;
  #timer: ClockTimer | undefined;
  #timerAtMs = Infinity;
  #waiting = 0;
  #pauses = 0;

  /**
   * @param calls Those that wait now.
   * @param maxTimeoutMs The hard bound of calls that have none of their own. The time of any call may stand still for ten times that, or ten times
   *   ten minutes if that is longer, in all: who pauses it again and again must not hold it for ever, and who signs in meanwhile may take long.
   */
  constructor(clock: Clock, calls: () => Iterable<TimeLimit>, maxTimeoutMs: number = Infinity) {
    this.#clock = clock;
    this.#calls = calls;
    this.#mostPausedMs = PAUSES * Math.max(maxTimeoutMs, DEFAULT_MAX_TIMEOUT_MS);
  }

  /** A call begins to wait. */
  add(call: TimeLimit): void {
    const { deadlineMs } = call;
    if (this.#pauses > 0) this.#pause(call);
    if (deadlineMs === Infinity) return;
    this.#waiting += 1;
    if (deadlineMs < this.#timerAtMs) this.#arm(deadlineMs);
    else if (this.#waiting === 1) this.#hold();
  }

  /** A call that was added waits no longer. */
  delete({ deadlineMs }: TimeLimit): void {
    if (deadlineMs === Infinity) return;
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#release();
  }

  /** Lets the time of one call stand still. @returns Lets it go on; of several pauses the last one ends it. */
  pause(call: TimeLimit): () => void {
    this.#pause(call);
    return once(() => this.#resume(call));
  }

  /** Lets the time of every call stand still, of those too that begin meanwhile. @returns Lets it go on; of several pauses the last one ends it. */
  pauseAll(): () => void {
    this.#pauses += 1;
    if (this.#pauses === 1) for (const call of this.#calls()) this.#pause(call);
    return once(() => {
      this.#pauses -= 1;
      if (this.#pauses === 0) for (const call of this.#calls()) this.#resume(call);
    });
  }

  /** Forgets all calls. */
  stop(): void {
    this.#waiting = 0;
    this.#disarm();
  }

  #pause(call: TimeLimit): void {
    call.pause(this.#clock.monotonicMs(), this.#mostPausedMs);
  }

  /** The timer may have passed the call over while its time stood still. */
  #resume(call: TimeLimit): void {
    const goesOn = call.resume(this.#clock.monotonicMs());
    if (goesOn && this.#waiting > 0 && call.deadlineMs < this.#timerAtMs) this.#arm(call.deadlineMs);
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
    const nowMs = this.#clock.monotonicMs();
    let nextMs = Infinity;
    for (const call of [...this.#calls()]) {
      // One whose time stands still is looked for again when it goes on, or has stood still for long enough.
      const { endMs } = call;
      if (endMs <= nowMs) call.expire(nowMs);
      else nextMs = Math.min(nextMs, endMs);
    }
    // Callers hear of it later, so nothing but a host that throws could have set the timer in between.
    if (nextMs < this.#timerAtMs) this.#arm(nextMs);
  }
}

/** How many pauses of the longest length, one after the other, a call may have. */
const PAUSES = 10;

function once(run: () => void): () => void {
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    run();
  };
}
