/** Progress and cancellation of a request. */

import type { RequestId } from '@mortise/jsonrpc-core';
import type { NotificationParams } from './meta.ts';

/** Tells which request a progress notification belongs to. A string or integer, to be sent back with the same JSON type. */
export type ProgressToken = string | number;

/**
 * Params of `notifications/progress`.
 *
 * @see 2026-07-28 basic/patterns/progress
 */
export interface ProgressNotificationParams extends NotificationParams {
  readonly progressToken: ProgressToken;
  /** How far the request is, greater than in the previous notification. May be fractional. */
  readonly progress: number;
  /** The value of `progress` at the end, if known. */
  readonly total?: number | undefined;
  /** A status text for people. Since 2025-03-26. */
  readonly message?: string | undefined;
}

/** A progress notification as the sender of the request receives it, without the token. */
export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** Tells whether a value is a valid progress token. */
export function isProgressToken(value: unknown): value is ProgressToken {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/**
 * Params of `notifications/cancelled`.
 *
 * @see 2026-07-28 basic/patterns/cancellation
 */
export interface CancelledNotificationParams extends NotificationParams {
  /** The id of the request to cancel. May be absent in 2025-11-25; such a notification is ignored (tasks have `tasks/cancel`). */
  readonly requestId?: RequestId | undefined;
  /** Why the request is cancelled, for logs and people. */
  readonly reason?: string | undefined;
}
