/** What programs give to a `Protocol`, and what their handlers get. `/shared/protocol` exports it. */

import type { CreateTaskOptions, TaskMessageQueue, TaskStore } from '../experimental/tasks/interfaces.ts';
import type { AnySchema, SchemaOutput } from '../server/zod-compat.ts';
import type { AuthInfo } from '../types/auth-info.ts';
import type * as v1 from '../types.ts';
import type { TransportSendOptions } from './transport.ts';

/** How long a request waits for its response by default, in milliseconds. */
export const DEFAULT_REQUEST_TIMEOUT_MSEC = 60_000;

export type ProgressCallback = (progress: v1.Progress) => void;

export type ProtocolOptions = {
  /** Refuses requests whose capability the other side does not declare. @default false */
  enforceStrictCapabilities?: boolean;
  /** Notifications of which several without params, sent in one turn, become one. @default none */
  debouncedNotificationMethods?: string[];
  /** Keeps tasks. With it, this side serves `tasks/*`. */
  taskStore?: TaskStore;
  /** Keeps what a task sends until `tasks/result` fetches it. */
  taskMessageQueue?: TaskMessageQueue;
  /** How long to wait between two looks at a task that names no interval, in milliseconds. @default 1000 */
  defaultTaskPollInterval?: number;
  maxTaskQueueSize?: number;
};

export type RequestOptions = {
  /** Called with each progress notification of the request. */
  onprogress?: ProgressCallback | undefined;
  /** Cancels the request. */
  signal?: AbortSignal | undefined;
  /** How long to wait, in milliseconds. @default 60000 */
  timeout?: number | undefined;
  /** Whether progress starts `timeout` anew. @default false */
  resetTimeoutOnProgress?: boolean | undefined;
  /** How long to wait in all, in milliseconds. */
  maxTotalTimeout?: number | undefined;
  /** Asks for the request to be run as a task. */
  task?: v1.TaskCreationParams | undefined;
  /** The task that the request belongs to. */
  relatedTask?: v1.RelatedTaskMetadata | undefined;
} & TransportSendOptions;

export type NotificationOptions = {
  relatedRequestId?: v1.RequestId | undefined;
  relatedTask?: v1.RelatedTaskMetadata | undefined;
};
export type TaskRequestOptions = Omit<RequestOptions, 'relatedTask'>;

/** The task store as the handler of one request sees it. */
export interface RequestTaskStore {
  createTask(taskParams: CreateTaskOptions): Promise<v1.Task>;
  getTask(taskId: string): Promise<v1.Task>;
  storeTaskResult(taskId: string, status: 'completed' | 'failed', result: v1.Result): Promise<void>;
  getTaskResult(taskId: string): Promise<v1.Result>;
  updateTaskStatus(taskId: string, status: v1.Task['status'], statusMessage?: string): Promise<void>;
  listTasks(cursor?: string): Promise<{ tasks: v1.Task[]; nextCursor?: string }>;
}

/** The second argument of a request handler. */
export type RequestHandlerExtra<SendRequestT extends v1.Request, SendNotificationT extends v1.Notification> = {
  /** Aborts if the other side cancels the request, or is gone. */
  signal: AbortSignal;
  authInfo?: AuthInfo | undefined;
  sessionId?: string | undefined;
  _meta?: v1.RequestMeta | undefined;
  requestId: v1.RequestId;
  taskId?: string | undefined;
  taskStore?: RequestTaskStore | undefined;
  taskRequestedTtl?: number | undefined;
  requestInfo?: v1.RequestInfo | undefined;
  /** Sends a notification that belongs to the request. */
  sendNotification: (notification: SendNotificationT) => Promise<void>;
  /** Sends a request that belongs to the request. */
  sendRequest: <U extends AnySchema>(request: SendRequestT, resultSchema: U, options?: TaskRequestOptions) => Promise<SchemaOutput<U>>;
  closeSSEStream?: (() => void) | undefined;
  closeStandaloneSSEStream?: (() => void) | undefined;
};
