/** Pings a silent peer of a legacy revision, and reports one that no longer responds. */

import { type Clock, type ClockTimer, RemoteError } from '@mortise/jsonrpc-core';

/** How long a ping waits for its response, in milliseconds. */
const PING_TIMEOUT_MS = 10_000;
/** How many pings in a row must fail before the peer counts as gone. */
const MAX_FAILURES = 3;

/** How a `KeepAlive` reaches the peer. */
export interface KeepAliveTarget {
  /** Sends a ping. Rejects without a response in time. Returns undefined if the peer cannot be pinged now. */
  ping(timeoutMs: number): Promise<unknown> | undefined;
  /** Called after each ping without a response, with the number of such pings in a row. */
  onNoResponse(inARow: number): void;
  /** Called once, after three pings in a row without a response. */
  onGone(): void;
}

/** Pings a peer after each interval in which nothing was heard from it. @see 2025-11-25 basic/utilities/ping */
export class KeepAlive {
  readonly #target: KeepAliveTarget;
  readonly #everyMs: number;
  readonly #clock: Clock;
  #heardAtMs: number;
  #failures = 0;
  #timer: ClockTimer | undefined;
  #isStopped = false;

  /** @param everyMs How long the peer must have been silent before a ping is sent, in milliseconds. */
  constructor(target: KeepAliveTarget, everyMs: number, clock: Clock) {
    this.#target = target;
    this.#everyMs = everyMs;
    this.#clock = clock;
    this.#heardAtMs = clock.monotonicMs();
    this.#wait(everyMs);
  }

  /** Call it when a message arrived from the peer. */
  heard(): void {
    this.#heardAtMs = this.#clock.monotonicMs();
    this.#failures = 0;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #wait(delayMs: number): void {
    this.#timer = this.#clock.schedule(this.#onTimer, delayMs);
  }

  readonly #onTimer = (): void => {
    const silentMs = this.#clock.monotonicMs() - this.#heardAtMs;
    if (silentMs < this.#everyMs) return this.#wait(this.#everyMs - silentMs);
    const response = this.#target.ping(PING_TIMEOUT_MS);
    if (response) void response.then(() => this.#onOutcome(), this.#onOutcome);
    else this.#wait(this.#everyMs);
  };

  readonly #onOutcome = (error?: unknown): void => {
    if (this.#isStopped) return;
    // An error response also shows that the peer is alive.
    if (error === undefined || error instanceof RemoteError) this.heard();
    else this.#target.onNoResponse((this.#failures += 1));
    if (this.#failures < MAX_FAILURES) return this.#wait(this.#everyMs);
    this.stop();
    this.#target.onGone();
  };
}
