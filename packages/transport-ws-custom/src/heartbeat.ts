/** Pings any number of connections by one timer, and ends those that give no sign of life. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';

/** One connection that is pinged. */
export interface Beating {
  /** Pings the peer. @returns false if nothing was heard since the last call. */
  beat(): boolean;
  /** Nothing was heard between two pings. */
  onDead(): void;
}

/** Pings every connection that is added. Its timer runs only while there are any. */
export class Heartbeat {
  readonly #intervalMs: number;
  readonly #clock: Clock;
  readonly #peers = new Set<Beating>();
  #timer: ClockTimer | undefined;

  /** @param intervalMs The time between two pings, in milliseconds. A peer that is gone is noticed within two of them. */
  constructor(intervalMs: number, clock: Clock) {
    this.#intervalMs = intervalMs;
    this.#clock = clock;
  }

  /** Pings a connection until it is deleted. */
  add(peer: Beating): void {
    this.#peers.add(peer);
    this.#timer ??= this.#schedule();
  }

  /** Stops pinging a connection. */
  delete(peer: Beating): void {
    this.#peers.delete(peer);
    if (this.#peers.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #schedule(): ClockTimer {
    return this.#clock.schedule(this.#onBeat, this.#intervalMs);
  }

  readonly #onBeat = (): void => {
    this.#timer = this.#schedule();
    for (const peer of this.#peers) if (!peer.beat()) peer.onDead();
  };
}
