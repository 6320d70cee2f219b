/** Ends a connection whose server sends garbage or notifications without end: reading them takes time from all other servers. */

import { type Clock, InvalidResponseError } from '@mortise/jsonrpc-core';

/** How many errors one connection may cause in a minute, and how many notifications it may send that belong to no call. */
const MAX_ERRORS = 1_000;
const MAX_NOTIFICATIONS = 10_000;
const MINUTE_MS = 60_000;

export class FloodGuard {
  readonly #clock: Clock;
  readonly #tooMuch = new AbortController();
  #startedAtMs: number;
  #errors = 0;
  #notifications = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAtMs = clock.monotonicMs();
  }

  /** Aborts when it is too much; the reason says what. */
  get signal(): AbortSignal {
    return this.#tooMuch.signal;
  }

  /** Counts an error. @returns Whether it should be reported. */
  countError(error: Error): boolean {
    this.#forgetLastMinute();
    this.#errors += 1;
    if (this.#errors > MAX_ERRORS) this.#end(`caused more than ${MAX_ERRORS} errors in a minute: ${error.message}`);
    return this.#errors <= MAX_ERRORS;
  }

  countNotification(): void {
    this.#forgetLastMinute();
    this.#notifications += 1;
    if (this.#notifications > MAX_NOTIFICATIONS) this.#end(`sent more than ${MAX_NOTIFICATIONS} notifications in a minute`);
  }

  #forgetLastMinute(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#startedAtMs < MINUTE_MS) return;
    this.#startedAtMs = nowMs;
    this.#errors = 0;
    this.#notifications = 0;
  }

  #end(what: string): void {
    this.#tooMuch.abort(new InvalidResponseError(`the server ${what}`));
  }
}
