/** Tasks, as the one revision that had them in its core defines them. */

import * as z from 'zod/v4';
import {
  listRequestOf,
  notificationOf,
  NotificationParamsSchema,
  PaginatedResultSchema,
  requestOf,
  RequestParamsSchema,
  ResultSchema,
} from './parts.ts';

export const TaskStatusSchema = z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']);
export const TaskSchema = z.object({
  taskId: z.string(),
  status: TaskStatusSchema,
  ttl: z.union([z.number(), z.null()]),
  createdAt: z.string(),
  lastUpdatedAt: z.string(),
  pollInterval: z.number().optional(),
  statusMessage: z.string().optional(),
});
const TaskParams = RequestParamsSchema.extend({ taskId: z.string() });
const TaskResult = ResultSchema.extend(TaskSchema.shape);

export const CreateTaskResultSchema = ResultSchema.extend({ task: TaskSchema });
export const TaskStatusNotificationParamsSchema = NotificationParamsSchema.extend(TaskSchema.shape);
export const TaskStatusNotificationSchema = notificationOf('notifications/tasks/status', TaskStatusNotificationParamsSchema);
export const GetTaskRequestSchema = requestOf('tasks/get', TaskParams);
export const GetTaskResultSchema = TaskResult;
export const GetTaskPayloadRequestSchema = requestOf('tasks/result', TaskParams);
export const GetTaskPayloadResultSchema = ResultSchema.loose();
export const ListTasksRequestSchema = listRequestOf('tasks/list');
export const ListTasksResultSchema = PaginatedResultSchema.extend({ tasks: z.array(TaskSchema) });
export const CancelTaskRequestSchema = requestOf('tasks/cancel', TaskParams);
export const CancelTaskResultSchema = TaskResult;

export type TaskStatus = z.infer<typeof TaskStatusSchema>;
export type Task = z.infer<typeof TaskSchema>;
export type CreateTaskResult = z.infer<typeof CreateTaskResultSchema>;
export type TaskStatusNotificationParams = z.infer<typeof TaskStatusNotificationParamsSchema>;
export type TaskStatusNotification = z.infer<typeof TaskStatusNotificationSchema>;
export type GetTaskRequest = z.infer<typeof GetTaskRequestSchema>;
export type GetTaskResult = z.infer<typeof GetTaskResultSchema>;
export type GetTaskPayloadRequest = z.infer<typeof GetTaskPayloadRequestSchema>;
export type GetTaskPayloadResult = z.infer<typeof GetTaskPayloadResultSchema>;
export type ListTasksRequest = z.infer<typeof ListTasksRequestSchema>;
export type ListTasksResult = z.infer<typeof ListTasksResultSchema>;
export type CancelTaskRequest = z.infer<typeof CancelTaskRequestSchema>;
export type CancelTaskResult = z.infer<typeof CancelTaskResultSchema>;
