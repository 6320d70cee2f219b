/** The clock that every part of Mortise takes as an option instead of using the platform's timers, so that tests can control time. */

/** A running timer of a `Clock`. */
export interface ClockTimer {
  /** Stops the timer. Does nothing once it has fired. */
  cancel(): void;
}

/** A timer that can decide, while it runs, whether it keeps the process alive. */
export interface HoldableTimer extends ClockTimer {
  /** Keeps the process alive until the timer fires. */
  hold(): void;
  /** Lets the process end before the timer fires. */
  release(): void;
}

/** Tells the time and schedules calls. Tests pass a fake clock, so that they need not wait. */
export interface Clock {
  /** The current time in milliseconds since 1970-01-01 UTC. */
  now(): number;
  /** The time in milliseconds from any starting point, which never runs backwards. For measuring durations. */
  monotonicMs(): number;
  /** Calls `fn` once after `delayMs`. The timer does not keep a process alive unless `keepAlive` is true. */
  schedule(fn: () => void, delayMs: number, options?: { readonly keepAlive?: boolean }): ClockTimer;
}

/** The longest delay that platforms accept. A longer one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The platform's clock. Its timers keep the process alive only with `keepAlive` (where the platform supports that). */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule: (fn, delayMs, options) => new SystemTimer(fn, delayMs, options?.keepAlive === true),
};

/** The methods of Node's timer objects. On other platforms a timer is a number without them. */
interface PlatformTimer {
  ref?(): void;
  unref?(): void;
}

class SystemTimer implements HoldableTimer {
  readonly #fn: () => void;
  #keepAlive: boolean;
  #restMs: number;
  #handle: ReturnType<typeof setTimeout> | undefined;

  constructor(fn: () => void, delayMs: number, keepAlive: boolean) {
    this.#fn = fn;
    this.#keepAlive = keepAlive;
    this.#restMs = delayMs;
    this.#arm();
  }

  cancel(): void {
    clearTimeout(this.#handle);
    this.#handle = undefined;
  }

  hold(): void {
    this.#keepAlive = true;
    (this.#handle as PlatformTimer | undefined)?.ref?.();
  }

  release(): void {
    this.#keepAlive = false;
    (this.#handle as PlatformTimer | undefined)?.unref?.();
  }

  #arm(): void {
    const delayMs = Math.min(this.#restMs, MAX_DELAY_MS);
    this.#restMs -= delayMs;
    this.#handle = setTimeout(() => (this.#restMs > 0 ? this.#arm() : this.#fn()), delayMs);
    if (!this.#keepAlive) this.release();
  }
}

/**
 * One timer for many deadlines: calls `onDue` at the earliest. All times are by `Clock.monotonicMs`.
 *
 * The timer keeps the process alive while at least one deadline is pending. Afterwards it stays set for reuse, but no longer keeps the process alive.
 */
export class DeadlineTimer {
  readonly #clock: Clock;
  readonly #onDue: (nowMs: number) => number;
  #timer: (ClockTimer & Partial<HoldableTimer>) | undefined;
  #timerAtMs = Infinity;
  #waiting = 0;

  /** @param onDue Handles the deadlines that have passed. Returns the time of the next one, or `Infinity` if there is none until `add` or `moveTo` is called. */
  constructor(clock: Clock, onDue: (nowMs: number) => number) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Adds a deadline. `Infinity` is ignored. */
  add(deadlineMs: number): void {
    if (deadlineMs === Infinity) return;
    this.#waiting += 1;
    if (deadlineMs < this.#timerAtMs) this.#arm(deadlineMs);
    else if (this.#waiting === 1) this.#timer?.hold?.();
  }

  /** Removes a deadline that was added before. */
  remove(deadlineMs: number): void {
    if (deadlineMs === Infinity) return;
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    if (this.#timer?.release) this.#timer.release();
    else this.#disarm();
  }

  /** Moves a pending deadline to an earlier time. For a later time no call is needed: the timer fires early and `onDue` checks again. */
  moveTo(deadlineMs: number): void {
    if (this.#waiting > 0 && deadlineMs < this.#timerAtMs) this.#arm(deadlineMs);
  }

  /** Removes all deadlines. */
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
