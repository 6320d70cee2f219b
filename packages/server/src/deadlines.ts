/** Ends handlers that run too long. All handlers have the same time limit, which does not run while a handler waits for the client. */

import type { Clock } from '@mortise/jsonrpc-core';
import { DeadlineTimer } from '@mortise/jsonrpc-core/connection';

/** The time limit of one running handler. Only `Deadlines` changes it. */
export interface Deadline {
  atMs: number;
  pausedAtMs: number;
  pauses: number;
  readonly onExpired: (timeoutMs: number) => void;
}

export class Deadlines {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #timer: DeadlineTimer;
  readonly #running = new Set<Deadline>();

  constructor(timeoutMs: number, clock: Clock) {
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#timer = new DeadlineTimer(clock, (nowMs) => this.#expire(nowMs));
  }

  /** Starts the time limit of a handler. @param onExpired Called once, when the limit is reached. */
  start(onExpired: (timeoutMs: number) => void): Deadline {
    const deadline = { atMs: this.#clock.monotonicMs() + this.#timeoutMs, pausedAtMs: 0, pauses: 0, onExpired };
    this.#running.add(deadline);
    this.#timer.add(deadline.atMs);
    return deadline;
  }

  end(deadline: Deadline): void {
    if (this.#running.delete(deadline)) this.#timer.remove(deadline.atMs);
  }

  /** Pauses a time limit until each of its pauses was ended. @returns A function that ends this pause. */
  pause(deadline: Deadline): () => void {
    if (deadline.pauses++ === 0) deadline.pausedAtMs = this.#clock.monotonicMs();
    return () => {
      deadline.pauses -= 1;
      if (deadline.pauses > 0) return;
      deadline.atMs += this.#clock.monotonicMs() - deadline.pausedAtMs;
      this.#timer.moveTo(deadline.atMs);
    };
  }

  stop(): void {
    this.#running.clear();
    this.#timer.stop();
  }

  /** Ends the handlers whose time limit is reached. @returns When the next time limit is due. */
  #expire(nowMs: number): number {
    let nextMs = Infinity;
    for (const deadline of [...this.#running]) {
      if (deadline.pauses > 0) continue;
      if (deadline.atMs > nowMs) nextMs = Math.min(nextMs, deadline.atMs);
      else {
        this.end(deadline);
        deadline.onExpired(this.#timeoutMs);
      }
    }
    return nextMs;
  }
}
