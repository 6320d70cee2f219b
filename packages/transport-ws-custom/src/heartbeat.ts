/** Pings any number of connections with one timer, and reports those whose peer no longer responds. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';

/** A connection that a `Heartbeat` pings. */
export interface Beating {
  /** Pings the peer. @returns false if nothing has arrived from the peer since the previous call of `beat`. */
  beat(): boolean;
  /** Called after `beat` returned false: the peer no longer responds. */
  onDead(): void;
}

/** Pings every added connection at a fixed interval. The timer runs only while there are connections. */
export class Heartbeat {
  readonly #intervalMs: number;
  readonly #clock: Clock;
  readonly #peers = new Set<Beating>();
  #timer: ClockTimer | undefined;

  /** @param intervalMs The time between two pings, in milliseconds. A dead peer is noticed within two intervals. */
  constructor(intervalMs: number, clock: Clock) {
    this.#intervalMs = intervalMs;
    this.#clock = clock;
  }

  /** Starts pinging a connection. */
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
