/** How long one call may still wait. */

/** What bounds a call, in milliseconds; `Infinity` for no bound. */
export interface TimeBounds {
  /** Since it was sent, or since it was last heard of. */
  readonly timeoutMs: number;
  /** Since it was sent, whatever is heard of it. */
  readonly maxTimeoutMs: number;
}

/** A base and not a member, so that a call is its own time limit and costs one object. All times are by `Clock.monotonicMs`. */
export abstract class TimeLimit {
  /** When the call has waited long enough; `Infinity` for never. While its time stands still, when it would have without that. */
  deadlineMs: number;
  readonly #bounds: TimeBounds;
  #hardDeadlineMs: number;
  #pauses = 0;
  #pausedAtMs = 0;

  constructor(bounds: TimeBounds, nowMs: number) {
    this.#bounds = bounds;
    this.#hardDeadlineMs = nowMs + bounds.maxTimeoutMs;
    this.deadlineMs = Math.min(nowMs + bounds.timeoutMs, this.#hardDeadlineMs);
  }

  /** The call has been heard of: `timeoutMs` begins anew, within the hard bound. */
  restart(nowMs: number): void {
    const sinceMs = this.#pauses > 0 ? this.#pausedAtMs : nowMs;
    this.deadlineMs = Math.min(sinceMs + this.#bounds.timeoutMs, this.#hardDeadlineMs);
  }

  /** Lets the time stand still, the hard bound's too. */
  pause(nowMs: number): void {
    if (this.#pauses === 0) this.#pausedAtMs = nowMs;
    this.#pauses += 1;
  }

  /** Ends one pause; the last one lets the time go on, by exactly what was lost later. @returns Whether it goes on. */
  resume(nowMs: number): boolean {
    this.#pauses -= 1;
    if (this.#pauses > 0) return false;
    const lostMs = nowMs - this.#pausedAtMs;
    this.#hardDeadlineMs += lostMs;
    this.deadlineMs += lostMs;
    return true;
  }

  /** Ends the call if its time is over and goes on. */
  expire(nowMs: number): void {
    if (this.#pauses > 0 || this.deadlineMs > nowMs) return;
    this.onTimeout(nowMs >= this.#hardDeadlineMs ? this.#bounds.maxTimeoutMs : this.#bounds.timeoutMs);
  }

  /** The time is over. Must not throw. @param boundMs Which of the two bounds was reached. */
  protected abstract onTimeout(boundMs: number): void;
}
