/** Asks a silent legacy client whether it is still there. Quiet while messages come. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import type { KeepAliveOptions } from './options.ts';

/** What keep-alive does with its findings. */
export interface KeepAliveTarget {
  /** Whether pings may be sent now: a legacy client that is ready. */
  readonly isPingable: boolean;
  /** Resolves with the answer, whatever it says; rejects when none came in time. */
  ping(timeoutMs: number): Promise<void>;
  /** One ping failed. @param inARow How many have, with this one. */
  onFailure(inARow: number): void;
  /** The client is gone. */
  onDead(): void;
}

const EVERY_MS = 30_000;
const TIMEOUT_MS = 10_000;
const FAILURES = 3;

/** @see 2025-11-25 basic/utilities/ping */
export class KeepAlive {
  readonly #target: KeepAliveTarget;
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #timeoutMs: number;
  readonly #maxFailures: number;
  #heardAtMs: number;
  #failures = 0;
  #timer: ClockTimer | undefined;
  #isStopped = false;

  constructor(target: KeepAliveTarget, clock: Clock, options: KeepAliveOptions) {
    this.#target = target;
    this.#clock = clock;
    this.#everyMs = options.everyMs ?? EVERY_MS;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#maxFailures = options.failures ?? FAILURES;
    this.#heardAtMs = clock.monotonicMs();
    this.#wait(this.#everyMs);
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
    if (!this.#isStopped) this.#timer = this.#clock.schedule(() => this.#look(), delayMs);
  }

  #look(): void {
    const silentMs = this.#clock.monotonicMs() - this.#heardAtMs;
    if (silentMs < this.#everyMs) return this.#wait(this.#everyMs - silentMs);
    if (!this.#target.isPingable) return this.#wait(this.#everyMs);
    this.#target.ping(this.#timeoutMs).then(
      () => {
        this.heard();
        this.#wait(this.#everyMs);
      },
      () => this.#onFailed(),
    );
  }

  #onFailed(): void {
    if (this.#isStopped) return;
    this.#failures++;
    this.#target.onFailure(this.#failures);
    if (this.#failures < this.#maxFailures) return this.#wait(this.#everyMs);
    this.stop();
    this.#target.onDead();
  }
}
