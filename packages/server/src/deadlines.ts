/** Ends handlers that run for too long: all have the same bound, and its clock stands still while the client is asked. */

import type { Clock } from '@mortise/jsonrpc-core';
import { DeadlineTimer } from '@mortise/jsonrpc-core/connection';

/** A run with a bound. All but `onExpired` is kept by `Deadlines`. */
export interface BoundedRun {
  deadlineMs: number;
  /** What was left of its time when it was last paused; undefined for all of it. */
  restMs: number | undefined;
  /** How often it was paused and not resumed. */
  pauses: number;
  readonly onExpired: ((timeoutMs: number) => void) | undefined;
}

export class Deadlines {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #timer: DeadlineTimer;
  readonly #running = new Set<BoundedRun>();

  constructor(timeoutMs: number, clock: Clock) {
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#timer = new DeadlineTimer(clock, (nowMs) => this.#expire(nowMs));
  }

  add(run: BoundedRun): void {
    // One that already waits for an answer begins to count when that has come.
    if (this.#timeoutMs === Infinity || run.pauses > 0) return;
    run.deadlineMs = this.#clock.monotonicMs() + (run.restMs ?? this.#timeoutMs);
    this.#running.add(run);
    this.#timer.add(run.deadlineMs);
  }

  delete(run: BoundedRun): void {
    if (this.#running.delete(run)) this.#timer.remove(run.deadlineMs);
  }

  /** Stops counting, for example while the client is asked. Pauses nest. */
  pause(run: BoundedRun): void {
    if (run.pauses++ > 0 || !this.#running.has(run)) return;
    run.restMs = Math.max(0, run.deadlineMs - this.#clock.monotonicMs());
    this.delete(run);
  }

  /** Goes on counting. */
  resume(run: BoundedRun, isEnded: boolean): void {
    run.pauses -= 1;
    if (!isEnded) this.add(run);
  }

  stop(): void {
    this.#running.clear();
    this.#timer.stop();
  }

  /** @returns When the next one is due. */
  #expire(nowMs: number): number {
    let nextMs = Infinity;
    for (const run of [...this.#running]) {
      if (run.deadlineMs > nowMs) nextMs = Math.min(nextMs, run.deadlineMs);
      else {
        this.delete(run);
        run.onExpired?.(this.#timeoutMs);
      }
    }
    return nextMs;
  }
}
