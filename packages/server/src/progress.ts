/** Progress of one call: thinned out, strictly growing, complete at its end. */

import type { Clock, ClockTimer, JsonObject } from '@mortise/jsonrpc-core';
import type { ProgressToken } from '@mortise/protocol/model';
import type { ProgressUpdate } from './handler-context.ts';
import { TokenBucket } from './token-bucket.ts';

/** How many notifications of one call may go out at once. */
const BURST = 20;
const PER_SECOND = 20;

/** Sends one step. Resolves once the transport has taken it; undefined where it took it at once. */
export type SendProgress = (params: JsonObject) => Promise<void> | undefined;

/**
 * Thins out the steps that a handler reports.
 *
 * A step is sent at once while the burst lasts, then so many a second; while the transport is full, none. Of those that have to
 * wait only the newest is kept.
 *
 * @see 2026-07-28 basic/patterns/progress#behavior-requirements
 */
export class ProgressReporter {
  readonly #token: ProgressToken;
  readonly #send: SendProgress;
  readonly #clock: Clock;
  #highest: number | undefined;
  #waiting: ProgressUpdate | undefined;
  readonly #bucket: TokenBucket;
  #isSending = false;
  #timer: ClockTimer | undefined;

  /** @param after The step that was sent before, in an earlier round of the call. */
  constructor(token: ProgressToken, send: SendProgress, clock: Clock, after: number | undefined) {
    this.#token = token;
    this.#send = send;
    this.#clock = clock;
    this.#bucket = new TokenBucket(BURST, PER_SECOND, clock);
    this.#highest = after;
  }

  /** The highest step that was reported. */
  get highest(): number | undefined {
    return this.#highest;
  }

  report(update: ProgressUpdate): void {
    if (!Number.isFinite(update.progress) || update.progress <= (this.#highest ?? -Infinity)) return;
    this.#highest = update.progress;
    this.#waiting = update;
    this.#sendOrWait();
  }

  /** Ends the reports of a call: sends what still waits, unless the call was cancelled. Call before the answer is sent. */
  end(isCancelled: boolean): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#waiting && !isCancelled) this.#sendWaiting(this.#waiting);
    this.#waiting = undefined;
  }

  #sendOrWait(): void {
    if (!this.#waiting || this.#isSending || this.#timer) return;
    if (this.#bucket.take()) this.#sendWaiting(this.#waiting);
    else this.#timer = this.#clock.schedule(() => this.#onTimer(), Math.max(1, this.#bucket.msUntilNext()));
  }

  #onTimer(): void {
    this.#timer = undefined;
    this.#sendOrWait();
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
