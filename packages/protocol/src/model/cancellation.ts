/** Cancellation of a request in flight. */

import type { RequestId } from '@mortise/jsonrpc-core';
import type { NotificationParams } from './meta.ts';

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
