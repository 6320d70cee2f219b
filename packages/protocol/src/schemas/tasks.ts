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

/** The zod twin of `TaskMetadata`. */
export const TaskMetadataSchema: z.ZodType<TaskMetadata> = loose({ ttl: optionalNumber });
/** The zod twin of `Task`. */
export const TaskSchema: z.ZodType<Task> = loose(task);
/** The zod twin of `CreateTaskResult`. */
export const CreateTaskResultSchema: z.ZodType<CreateTaskResult> = loose({ ...resultShape, task: TaskSchema });
/** The zod twin of `TaskRequestParams`. */
export const TaskRequestParamsSchema: z.ZodType<TaskRequestParams> = loose({ ...requestShape, taskId: z.string() });
/** The zod twin of `GetTaskResult`. */
export const GetTaskResultSchema: z.ZodType<GetTaskResult> = loose({ ...resultShape, ...task });
/** The zod twin of `CancelTaskResult`. */
export const CancelTaskResultSchema: z.ZodType<CancelTaskResult> = loose({ ...resultShape, ...task });
/** The zod twin of `ListTasksResult`. */
export const ListTasksResultSchema: z.ZodType<ListTasksResult> = loose({ ...pagedResultShape, tasks: z.array(TaskSchema) });
/** The zod twin of `TaskStatusNotificationParams`. */
export const TaskStatusNotificationParamsSchema: z.ZodType<TaskStatusNotificationParams> = loose({ ...notificationShape, ...task });
