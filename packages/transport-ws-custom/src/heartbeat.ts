/** Pings for any number of connections by one timer, and the end of those that give no sign of life. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';

/** One connection as a heartbeat sees it. */
export interface Beating {
  /** Looks whether the peer is alive and asks for a sign of life. @returns false if there was none since the last call. */
  beat(): boolean;
  /** Nothing was heard for a whole beat although it was asked for. */
  onDead(): void;
}

/** Beats for every connection that is added, by one timer, which runs only while there are any. */
export class Heartbeat {
  readonly #intervalMs: number;
  readonly #clock: Clock;
  readonly #peers = new Set<Beating>();
  #timer: ClockTimer | undefined;

  /** @param intervalMs Between two beats. A peer that is gone is noticed within two of them. */
  constructor(intervalMs: number, clock: Clock) {
    this.#intervalMs = intervalMs;
    this.#clock = clock;
  }

  /** Beats for one more, until it is deleted. */
  add(peer: Beating): void {
    this.#peers.add(peer);
    this.#timer ??= this.#schedule();
  }

  /** Beats for it no more. */
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
