/** Asks a silent legacy client whether it is still there. Quiet while messages come. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';

/** What keep-alive pings, and what it does with its findings. */
export interface KeepAliveTarget {
  /** Whether pings may be sent now: a legacy client that is ready. */
  isPingable(): boolean;
  /** Resolves with the answer, whatever it says; rejects when none came in time. */
  ping(timeoutMs: number): Promise<void>;
  /** One ping failed. @param inARow How many have, with this one. */
  onFailure(inARow: number): void;
  /** The client is gone. */
  onDead(): void;
}

/** How long a ping waits for its answer. */
const TIMEOUT_MS = 10_000;
/** How many pings in a row must fail before the client counts as gone. */
const MAX_FAILURES = 3;

/** @see 2025-11-25 basic/utilities/ping */
export class KeepAlive {
  readonly #target: KeepAliveTarget;
  readonly #clock: Clock;
  readonly #everyMs: number;
  #heardAtMs: number;
  #failures = 0;
  #timer: ClockTimer | undefined;
  #isStopped = false;

  /** @param everyMs How long nothing must have come before a ping is sent. */
  constructor(target: KeepAliveTarget, clock: Clock, everyMs: number) {
    this.#target = target;
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#heardAtMs = clock.monotonicMs();
    this.#wait(everyMs);
  }

  /** Something came from the client. */
  heard(): void {
    this.#heardAtMs = this.#clock.monotonicMs();
    this.#failures = 0;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #wait(delayMs: number): void {
    if (!this.#isStopped) this.#timer = this.#clock.schedule(() => void this.#look(), delayMs);
  }

  async #look(): Promise<void> {
    const silentMs = this.#clock.monotonicMs() - this.#heardAtMs;
    if (silentMs < this.#everyMs) return this.#wait(this.#everyMs - silentMs);
    if (!this.#target.isPingable()) return this.#wait(this.#everyMs);
    try {
      await this.#target.ping(TIMEOUT_MS);
      this.heard();
    } catch {
      if (this.#isStopped) return;
      this.#failures += 1;
      this.#target.onFailure(this.#failures);
      if (this.#failures >= MAX_FAILURES) {
        this.stop();
        return this.#target.onDead();
      }
    }
    this.#wait(this.#everyMs);
  }
}
