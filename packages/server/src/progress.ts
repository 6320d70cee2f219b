/** `ctx.progress`: limits the rate of progress notifications, drops values that do not increase, and sends the last one before the response. */

import type { ClockTimer, JsonObject } from '@mortise/jsonrpc-core';
import { isProgressToken } from '@mortise/protocol/checks';
import type { ProgressToken } from '@mortise/protocol/model';
import { META_PROGRESS_TOKEN } from '@mortise/protocol/wire';
import type { Context } from './context.ts';
import type { ProgressUpdate } from './handler-context.ts';
import { Outbox } from './outbox.ts';
import { TokenBucket } from './token-bucket.ts';

/** How many progress notifications of one call may be sent at once, before the rate limit applies. */
const BURST = 20;
const PER_SECOND = 20;

/** Makes what sends a call's progress notifications. Undefined if the request has no progress token. */
export function createReporter(context: Context): ProgressReporter | undefined {
  const token = context.meta[META_PROGRESS_TOKEN];
  return isProgressToken(token) ? new ProgressReporter(token, context) : undefined;
}

/**
 * Sends the first progress notifications of a call at once, then a limited number per second, and none while the transport is full. Of
 * those that must wait, only the newest is kept.
 *
 * @see 2026-07-28 basic/patterns/progress#behavior-requirements
 */
export class ProgressReporter {
  /** The highest progress value that the handler reported in this run or an earlier one. */
  highest: number | undefined;
  readonly #token: ProgressToken;
  readonly #context: Context;
  readonly #outbox: Outbox;
  readonly #bucket: TokenBucket;
  #waiting: ProgressUpdate | undefined;
  #timer: ClockTimer | undefined;

  constructor(token: ProgressToken, context: Context) {
    this.highest = context.earlier?.progress;
    this.#token = token;
    this.#context = context;
    this.#outbox = new Outbox(context);
    this.#bucket = new TokenBucket(BURST, PER_SECOND, context.clock);
  }

  report(update: ProgressUpdate): void {
    if (!Number.isFinite(update.progress) || update.progress <= (this.highest ?? -Infinity)) return;
    this.highest = update.progress;
    this.#waiting = update;
    if (!this.#timer) this.#sendOrWait();
  }

  /** Sends a progress notification that still waits, unless the call was cancelled. Must be called before the response is sent. */
  end(isCancelled: boolean): void {
    this.#timer?.cancel();
    if (isCancelled) return this.#outbox.clear();
    this.#send();
    this.#outbox.flush();
  }

  #sendOrWait(): void {
    if (this.#bucket.take()) return this.#send();
    const onTimer = (): void => {
      this.#timer = undefined;
      this.#sendOrWait();
    };
    this.#timer = this.#context.clock.schedule(onTimer, Math.max(1, this.#bucket.msUntilNext()));
  }

  #send(): void {
    const params = this.#waiting && toParams(this.#token, this.#waiting);
    this.#waiting = undefined;
    if (params) this.#outbox.push({ jsonrpc: '2.0', method: 'notifications/progress', params }, 'progress');
  }
}

function toParams(progressToken: ProgressToken, { progress, total, message }: ProgressUpdate): JsonObject {
  const params: Record<string, string | number> = { progressToken, progress };
  if (typeof total === 'number' && Number.isFinite(total)) params['total'] = total;
  if (typeof message === 'string') params['message'] = message;
  return params;
}
