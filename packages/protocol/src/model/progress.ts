/** Requests in flight: how far one has come, and taking one back. */

import type { RequestId } from '@mortise/jsonrpc-core';
import type { NotificationParams } from './meta.ts';

/** Names a request's progress: a string or an integer, given back with the same JSON type. */
export type ProgressToken = string | number;

/**
 * One step of progress.
 *
 * @see 2026-07-28 basic/patterns/progress
 */
export interface ProgressNotificationParams extends NotificationParams {
  readonly progressToken: ProgressToken;
  /** Strictly greater than in the notification before. May be fractional. */
  readonly progress: number;
  /** What `progress` will be at the end, where known. */
  readonly total?: number | undefined;
  /** What is happening, for people. Since 2025-03-26. */
  readonly message?: string | undefined;
}

/** What a caller sees of one step of progress. */
export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** Tells whether a value can be a progress token. */
export function isProgressToken(value: unknown): value is ProgressToken {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/**
 * Names the request that its sender no longer wants answered.
 *
 * @see 2026-07-28 basic/patterns/cancellation
 */
export interface CancelledNotificationParams extends NotificationParams {
  /** May be absent in 2025-11-25 (tasks have `tasks/cancel`); such a notification means nothing and is ignored. */
  readonly requestId?: RequestId | undefined;
  /** Why, for logs and people. */
  readonly reason?: string | undefined;
}
