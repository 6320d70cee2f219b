/** Ends handlers that run for too long. One timer for all of them, because all have the same bound. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import { isHoldableTimer } from '@mortise/jsonrpc-core/transport';

/** A run with a bound. */
export interface BoundedRun {
  /** When its time began to count; kept by `Deadlines`. */
  startedAtMs: number;
  /** How much of its time was used before it was last paused; kept by `Deadlines`. */
  usedMs: number;
  /** How often it was paused and not resumed; kept by `Deadlines`. */
  pauses: number;
  onExpired(timeoutMs: number): void;
}

export class Deadlines {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  /** In the order in which they began, so the first is the first to expire. Runs that were paused are in `#resumed`. */
  readonly #running = new Set<BoundedRun>();
  readonly #resumed = new Map<BoundedRun, ClockTimer>();
  #timer: ClockTimer | undefined;

  constructor(timeoutMs: number, clock: Clock) {
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  add(run: BoundedRun): void {
    // One that already waits for an answer begins to count when that has come.
    if (this.#timeoutMs === Infinity || run.pauses > 0) return;
    run.startedAtMs = this.#clock.monotonicMs();
    this.#running.add(run);
    if (this.#timer === undefined) this.#timer = this.#arm(this.#timeoutMs);
    else if (this.#running.size === 1 && isHoldableTimer(this.#timer)) this.#timer.hold();
  }

  delete(run: BoundedRun): void {
    if (this.#running.delete(run)) {
      if (this.#running.size === 0) this.#letGo();
      return;
    }
    this.#resumed.get(run)?.cancel();
    this.#resumed.delete(run);
  }

  /** Stops counting, for example while the client is asked. Pauses nest. */
  pause(run: BoundedRun): void {
    if (run.pauses++ > 0 || !this.#isCounting(run)) return;
    run.usedMs += this.#clock.monotonicMs() - run.startedAtMs;
    this.delete(run);
  }

  /** Goes on counting. */
  resume(run: BoundedRun, isEnded: boolean): void {
    if (--run.pauses > 0 || isEnded || this.#timeoutMs === Infinity) return;
    run.startedAtMs = this.#clock.monotonicMs();
    const restMs = Math.max(0, this.#timeoutMs - run.usedMs);
    this.#resumed.set(
      run,
      this.#clock.schedule(
        () => {
          this.#resumed.delete(run);
          run.onExpired(this.#timeoutMs);
        },
        restMs,
        { keepAlive: true },
      ),
    );
  }

  stop(): void {
    this.#disarm();
    for (const timer of this.#resumed.values()) timer.cancel();
    this.#resumed.clear();
    this.#running.clear();
  }

  #arm(delayMs: number): ClockTimer {
    return this.#clock.schedule(() => this.#expire(), delayMs, { keepAlive: true });
  }

  /** The timer keeps the process alive for who waits, and must not for nobody. Setting it anew for each call would cost more than the call. */
  #letGo(): void {
    if (this.#timer !== undefined && isHoldableTimer(this.#timer)) this.#timer.release();
    else this.#disarm();
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #isCounting(run: BoundedRun): boolean {
    return this.#running.has(run) || this.#resumed.has(run);
  }

  #expire(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonicMs();
    for (const run of this.#running) {
      const restMs = run.startedAtMs + this.#timeoutMs - now;
      if (restMs > 0) {
        this.#timer = this.#arm(restMs);
        return;
      }
      this.#running.delete(run);
      run.onExpired(this.#timeoutMs);
    }
  }
}
