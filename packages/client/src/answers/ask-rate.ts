/** How often a server may ask: at most so many times a minute, all of them at once if it likes. */

import { type Clock, ProtocolError } from '@mortise/jsonrpc-core';

/** A code of the range that JSON-RPC leaves to implementations. */
const TOO_MANY = -32000;
const MINUTE_MS = 60_000;

/** Counts the questions of one kind. */
export class AskRate {
  readonly #what: string;
  readonly #perMinute: number;
  readonly #option: string;
  readonly #clock: Clock;
  #tokens: number;
  #filledAtMs: number;

  constructor(what: string, perMinute: number, option: string, clock: Clock) {
    this.#what = what;
    this.#perMinute = perMinute;
    this.#option = option;
    this.#clock = clock;
    this.#tokens = perMinute;
    this.#filledAtMs = clock.monotonicMs();
  }

  /** Counts one question. @throws {ProtocolError} -32000: the server asks too often; `data.retryAfterMs` says when it may ask again. */
  take(): void {
    if (this.#perMinute === Infinity) return;
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#perMinute, this.#tokens + ((nowMs - this.#filledAtMs) * this.#perMinute) / MINUTE_MS);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) {
      const retryAfterMs = this.#perMinute > 0 ? Math.ceil(((1 - this.#tokens) * MINUTE_MS) / this.#perMinute) : undefined;
      throw new ProtocolError(
        TOO_MANY,
        `Too many requests for ${this.#what}: this client allows ${this.#perMinute} a minute (${this.#option})`,
        retryAfterMs === undefined ? {} : { retryAfterMs },
      );
    }
    this.#tokens -= 1;
  }
}
