/** What a program brings for tasks: a store, a queue, and the three functions of a tool that runs as a task. */

import type { RequestHandlerExtra, RequestTaskStore } from '../../shared/protocol.ts';
import type { BaseToolCallback } from '../../server/mcp-types.ts';
import type { AnySchema, ZodRawShapeCompat } from '../../server/zod-compat.ts';
import type * as v1 from '../../types.ts';

export interface CreateTaskRequestHandlerExtra extends RequestHandlerExtra<v1.ServerRequest, v1.ServerNotification> {
  taskStore: RequestTaskStore;
}
export interface TaskRequestHandlerExtra extends RequestHandlerExtra<v1.ServerRequest, v1.ServerNotification> {
  taskId: string;
  taskStore: RequestTaskStore;
}
type Arguments = undefined | ZodRawShapeCompat | AnySchema;
export type CreateTaskRequestHandler<SendResultT extends v1.Result, Args extends Arguments = undefined> = BaseToolCallback<
  SendResultT,
  CreateTaskRequestHandlerExtra,
  Args
>;
export type TaskRequestHandler<SendResultT extends v1.Result, Args extends Arguments = undefined> = BaseToolCallback<
  SendResultT,
  TaskRequestHandlerExtra,
  Args
>;
/** A tool that runs as a task. */
export interface ToolTaskHandler<Args extends Arguments = undefined> {
  /** Starts the task. */
  createTask: CreateTaskRequestHandler<v1.CreateTaskResult, Args>;
  getTask: TaskRequestHandler<v1.GetTaskResult, Args>;
  getTaskResult: TaskRequestHandler<v1.CallToolResult, Args>;
}
export type TaskToolExecution<TaskSupport = v1.ToolExecution['taskSupport']> = Omit<v1.ToolExecution, 'taskSupport'> & {
  taskSupport: TaskSupport extends 'forbidden' | undefined ? never : TaskSupport;
};

export interface BaseQueuedMessage {
  type: string;
  timestamp: number;
}
export interface QueuedRequest extends BaseQueuedMessage {
  type: 'request';
  message: v1.JSONRPCRequest;
}
export interface QueuedNotification extends BaseQueuedMessage {
  type: 'notification';
  message: v1.JSONRPCNotification;
}
export interface QueuedResponse extends BaseQueuedMessage {
  type: 'response';
  message: v1.JSONRPCResultResponse;
}
export interface QueuedError extends BaseQueuedMessage {
  type: 'error';
  message: v1.JSONRPCErrorResponse;
}
/** What a task has to tell its client. */
export type QueuedMessage = QueuedRequest | QueuedNotification | QueuedResponse | QueuedError;

/** Keeps the messages of each task, first in first out, until `tasks/result` fetches them. */
export interface TaskMessageQueue {
  /** @throws The queue has `maxSize` messages already. */
  enqueue(taskId: string, message: QueuedMessage, sessionId?: string, maxSize?: number): Promise<void>;
  dequeue(taskId: string, sessionId?: string): Promise<QueuedMessage | undefined>;
  dequeueAll(taskId: string, sessionId?: string): Promise<QueuedMessage[]>;
}

export interface CreateTaskOptions {
  /** How long to keep the task after it was made, in milliseconds; null for ever. */
  ttl?: number | null;
  /** How long a client should wait between two looks, in milliseconds. */
  pollInterval?: number;
  context?: Record<string, unknown>;
}

/** Keeps tasks and their results. */
export interface TaskStore {
  createTask(taskParams: CreateTaskOptions, requestId: v1.RequestId, request: v1.Request, sessionId?: string): Promise<v1.Task>;
  getTask(taskId: string, sessionId?: string): Promise<v1.Task | null>;
  storeTaskResult(taskId: string, status: 'completed' | 'failed', result: v1.Result, sessionId?: string): Promise<void>;
  getTaskResult(taskId: string, sessionId?: string): Promise<v1.Result>;
  updateTaskStatus(taskId: string, status: v1.Task['status'], statusMessage?: string, sessionId?: string): Promise<void>;
  listTasks(cursor?: string, sessionId?: string): Promise<{ tasks: v1.Task[]; nextCursor?: string }>;
}

/** Whether a task will not change any more. */
export function isTerminal(status: v1.Task['status']): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
