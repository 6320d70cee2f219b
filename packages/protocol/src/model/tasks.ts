/**
 * Tasks as the core protocol defines them.
 * @until 2025-11-25; later revisions have the extension `io.modelcontextprotocol/tasks`, whose types are in `@mortise/tasks`.
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { NotificationParams, PaginatedResult, RequestParams, Result } from './meta.ts';

/** The status of a task. `completed`, `failed` and `cancelled` are final. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** Asks the receiver of a request to run the request as a task. @until 2025-11-25 */
export interface TaskMetadata extends JsonObject {
  /** How long to keep the task after creation, in milliseconds. */
  readonly ttl?: number | undefined;
}

/** Names the task that a message belongs to. @until 2025-11-25 */
export interface RelatedTaskMetadata extends JsonObject {
  readonly taskId: string;
}

/** The state of a task. @until 2025-11-25 */
export interface Task extends JsonObject {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string | undefined;
  /** When the task was created, as an ISO 8601 timestamp. */
  readonly createdAt: string;
  /** When the task was last updated, as an ISO 8601 timestamp. */
  readonly lastUpdatedAt: string;
  /** How long the task is kept after creation, in milliseconds; `null` for no limit. */
  readonly ttl: number | null;
  /** The suggested time between two `tasks/get` requests, in milliseconds. */
  readonly pollInterval?: number | undefined;
}

/** The result of a request that asked to run as a task: the task, not yet the result of the request. @until 2025-11-25 */
export interface CreateTaskResult extends Result {
  readonly task: Task;
}

/** Params of `tasks/get`, `tasks/result` and `tasks/cancel`. @until 2025-11-25 */
export interface TaskRequestParams extends RequestParams {
  readonly taskId: string;
}

/** The result of `tasks/get`. @until 2025-11-25 */
export interface GetTaskResult extends Result, Task {}

/** The result of `tasks/cancel`. @until 2025-11-25 */
export interface CancelTaskResult extends Result, Task {}

/** One page of `tasks/list`. @until 2025-11-25 */
export interface ListTasksResult extends PaginatedResult {
  readonly tasks: readonly Task[];
}

/** Params of `notifications/tasks/status`. @until 2025-11-25 */
export interface TaskStatusNotificationParams extends NotificationParams, Task {}
