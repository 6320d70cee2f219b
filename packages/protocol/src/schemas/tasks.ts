/** Tasks of the core's first generation. @until 2025-11-25 */

import { z } from 'zod/v4';
import type {
  CancelTaskResult,
  CreateTaskResult,
  GetTaskResult,
  ListTasksResult,
  Task,
  TaskMetadata,
  TaskRequestParams,
  TaskStatusNotificationParams,
} from '../model/tasks.ts';
import { loose, optionalNumber, optionalString } from './base.ts';
import { notificationShape, pagedResultShape, requestShape, resultShape } from './meta.ts';

const task = {
  taskId: z.string(),
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  statusMessage: optionalString,
  createdAt: z.string(),
  lastUpdatedAt: z.string(),
  ttl: z.number().nullable(),
  pollInterval: optionalNumber,
};

export const TaskMetadataSchema: z.ZodType<TaskMetadata> = loose({ ttl: optionalNumber });
export const TaskSchema: z.ZodType<Task> = loose(task);
export const CreateTaskResultSchema: z.ZodType<CreateTaskResult> = loose({ ...resultShape, task: TaskSchema });
export const TaskRequestParamsSchema: z.ZodType<TaskRequestParams> = loose({ ...requestShape, taskId: z.string() });
export const GetTaskResultSchema: z.ZodType<GetTaskResult> = loose({ ...resultShape, ...task });
export const CancelTaskResultSchema: z.ZodType<CancelTaskResult> = loose({ ...resultShape, ...task });
export const ListTasksResultSchema: z.ZodType<ListTasksResult> = loose({ ...pagedResultShape, tasks: z.array(TaskSchema) });
export const TaskStatusNotificationParamsSchema: z.ZodType<TaskStatusNotificationParams> = loose({ ...notificationShape, ...task });
