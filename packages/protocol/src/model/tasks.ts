/**
 * Tasks of the core's first generation. @until 2025-11-25; then the extension `io.modelcontextprotocol/tasks`, whose shapes
 * are in `@mortise/tasks`.
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { NotificationParams, PaginatedResult, RequestParams, Result } from './meta.ts';

/** `completed`, `failed` and `cancelled` are final. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** Asks that a request be run as a task. @until 2025-11-25 */
export interface TaskMetadata extends JsonObject {
  /** How long to keep the task after its creation, in milliseconds. */
  readonly ttl?: number | undefined;
}

/** Says which task a message belongs to. @until 2025-11-25 */
export interface RelatedTaskMetadata extends JsonObject {
  readonly taskId: string;
}

/** @until 2025-11-25 */
export interface Task extends JsonObject {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string | undefined;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastUpdatedAt: string;
  /** Milliseconds from creation; `null` for no end. */
  readonly ttl: number | null;
  /** How often to ask, in milliseconds. */
  readonly pollInterval?: number | undefined;
}

/** @until 2025-11-25 */
export interface CreateTaskResult extends Result {
  readonly task: Task;
}

/** Params of `tasks/get`, `tasks/result` and `tasks/cancel`. @until 2025-11-25 */
export interface TaskRequestParams extends RequestParams {
  readonly taskId: string;
}

/** @until 2025-11-25 */
export interface GetTaskResult extends Result, Task {}

/** @until 2025-11-25 */
export interface CancelTaskResult extends Result, Task {}

/** @until 2025-11-25 */
export interface ListTasksResult extends PaginatedResult {
  readonly tasks: readonly Task[];
}

/** Params of `notifications/tasks/status`. @until 2025-11-25 */
export interface TaskStatusNotificationParams extends NotificationParams, Task {}
