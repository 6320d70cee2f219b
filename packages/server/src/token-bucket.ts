/** `TokenBucket`: a rate limit that allows `burst` events at once and `perSecond` in the long run. */

import type { Clock } from '@mortise/jsonrpc-core';

export class TokenBucket {
  readonly #clock: Clock;
  readonly #burst: number;
  readonly #perSecond: number;
  #tokens: number;
  #filledAtMs: number;

  constructor(burst: number, perSecond: number, clock: Clock) {
    this.#clock = clock;
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#tokens = burst;
    this.#filledAtMs = clock.monotonicMs();
  }

  /** Takes one token, for one event. Returns false if there is none: the event exceeds the rate. */
  take(): boolean {
    const now = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#filledAtMs) * this.#perSecond) / 1000);
    this.#filledAtMs = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** How many milliseconds after the last `take` the next token is available. */
  msUntilNext(): number {
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) * 1000) / this.#perSecond);
  }
}
