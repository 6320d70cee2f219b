/** Time, which every part takes instead of reaching for the platform's. */

/** A running timer of a `Clock`. */
export interface ClockTimer {
  /** Stops the timer. Does nothing once it has fired. */
  cancel(): void;
}

/** What a clock's timers may have, too: whether they keep the process alive can be changed while they run. */
export interface HoldableTimer extends ClockTimer {
  /** Keeps the process alive until the timer fires. */
  hold(): void;
  /** Lets the process end before the timer fires. */
  release(): void;
}

/** Tells the time and wakes callers up, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never run backwards, for measuring spans. */
  monotonicMs(): number;
  /** Calls `fn` once after `delayMs`. The timer does not keep a process alive unless `keepAlive` is true. */
  schedule(fn: () => void, delayMs: number, options?: { readonly keepAlive?: boolean }): ClockTimer;
}

/** The longest delay that platforms take; a longer one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The platform's time. Its timers do not keep a process alive, where the platform can tell, unless they are asked to. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule: (fn, delayMs, options) => new SystemTimer(fn, delayMs, options?.keepAlive === true),
};

/** On Node a timer is an object with these; elsewhere it is a number. */
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
