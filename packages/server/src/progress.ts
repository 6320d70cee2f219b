/** Progress of one call: thinned out, strictly growing, complete at its end. */

import type { Clock, ClockTimer, JsonObject } from '@mortise/jsonrpc-core';
import type { ProgressToken } from '@mortise/protocol/model';
import type { ProgressUpdate } from './handler-context.ts';

/** The time between two notifications of one call once the burst is used up. */
const INTERVAL_MS = 50;
/** How many may go out before the interval holds; they come back at its rate. */
const BURST = 20;

/** Sends one step. Resolves once the transport has taken it; undefined where it took it at once. */
export type SendProgress = (params: JsonObject) => Promise<void> | undefined;

/**
 * Thins out the steps that a handler reports.
 *
 * A step goes out at once while the burst lasts, then one each interval; while the transport is full, none. Of those that have to
 * wait only the newest is kept.
 *
 * @see 2026-07-28 basic/patterns/progress#behavior-requirements
 */
export class ProgressReporter {
  readonly #token: ProgressToken;
  readonly #send: SendProgress;
  readonly #clock: Clock;
  #highest: number;
  #waiting: ProgressUpdate | undefined;
  #credit = BURST;
  #creditAtMs = 0;
  #isSending = false;
  #timer: ClockTimer | undefined;

  /** @param after The step that was told before, in an earlier round of the call. */
  constructor(token: ProgressToken, send: SendProgress, clock: Clock, after: number = -Infinity) {
    this.#token = token;
    this.#send = send;
    this.#clock = clock;
    this.#highest = after;
  }

  /** The highest step that was reported. */
  get highest(): number {
    return this.#highest;
  }

  report(update: ProgressUpdate): void {
    if (!Number.isFinite(update.progress) || update.progress <= this.#highest) return;
    this.#highest = update.progress;
    this.#waiting = update;
    this.#sendOrWait();
  }

  /** Sends what still waits, however soon. Call before the answer is sent. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#waiting) this.#sendWaiting(this.#waiting);
  }

  /** Drops what still waits. */
  stop(): void {
    this.#waiting = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #sendOrWait(): void {
    if (!this.#waiting || this.#isSending || this.#timer) return;
    const delayMs = this.#takeCredit();
    if (delayMs === 0) this.#sendWaiting(this.#waiting);
    else this.#timer = this.#clock.schedule(() => this.#onTimer(), delayMs);
  }

  #onTimer(): void {
    this.#timer = undefined;
    this.#sendOrWait();
  }

  /** How long to wait before the next step may go, in milliseconds; 0 where it may go now, which uses credit up. */
  #takeCredit(): number {
    const now = this.#clock.monotonicMs();
    this.#credit = Math.min(BURST, this.#credit + (now - this.#creditAtMs) / INTERVAL_MS);
    this.#creditAtMs = now;
    if (this.#credit < 1) return Math.max(1, Math.ceil((1 - this.#credit) * INTERVAL_MS));
    this.#credit -= 1;
    return 0;
  }

  #sendWaiting(update: ProgressUpdate): void {
    this.#waiting = undefined;
    const sent = this.#send(toParams(this.#token, update));
    if (!sent) return;
    this.#isSending = true;
    const onSent = (): void => {
      this.#isSending = false;
      this.#sendOrWait();
    };
    sent.then(onSent, onSent);
  }
}

function toParams(progressToken: ProgressToken, { progress, total, message }: ProgressUpdate): JsonObject {
  const params: Record<string, string | number> = { progressToken, progress };
  if (typeof total === 'number' && Number.isFinite(total)) params['total'] = total;
  if (typeof message === 'string') params['message'] = message;
  return params;
}
