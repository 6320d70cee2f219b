/** `/experimental/tasks`: tasks, as v1 has them. */

export {
  type CancelTaskRequest,
  CancelTaskRequestSchema,
  type CancelTaskResult,
  CancelTaskResultSchema,
  type CreateTaskResult,
  CreateTaskResultSchema,
  type GetTaskPayloadRequest,
  GetTaskPayloadRequestSchema,
  type GetTaskRequest,
  GetTaskRequestSchema,
  type GetTaskResult,
  GetTaskResultSchema,
  type ListTasksRequest,
  ListTasksRequestSchema,
  type ListTasksResult,
  ListTasksResultSchema,
  type RelatedTaskMetadata,
  RelatedTaskMetadataSchema,
  type Task,
  type TaskCreationParams,
  TaskCreationParamsSchema,
  TaskSchema,
  type TaskStatusNotification,
  type TaskStatusNotificationParams,
  TaskStatusNotificationParamsSchema,
  TaskStatusNotificationSchema,
} from '../../types.ts';
export {
  type BaseResponseMessage,
  type ErrorMessage,
  type ResponseMessage,
  type ResultMessage,
  takeResult,
  type TaskCreatedMessage,
  type TaskStatusMessage,
  toArrayAsync,
} from '../../shared/responseMessage.ts';
export { ExperimentalClientTasks } from './client.ts';
export { assertClientRequestTaskCapability, assertToolsCallTaskCapability } from './helpers.ts';
export { InMemoryTaskMessageQueue, InMemoryTaskStore } from './stores/in-memory.ts';
export {
  type BaseQueuedMessage,
  type CreateTaskOptions,
  type CreateTaskRequestHandler,
  type CreateTaskRequestHandlerExtra,
  isTerminal,
  type QueuedError,
  type QueuedMessage,
  type QueuedNotification,
  type QueuedRequest,
  type QueuedResponse,
  type TaskMessageQueue,
  type TaskRequestHandler,
  type TaskRequestHandlerExtra,
  type TaskStore,
  type TaskToolExecution,
  type ToolTaskHandler,
} from './interfaces.ts';
export { ExperimentalMcpServerTasks } from './mcp-server.ts';
export { ExperimentalServerTasks } from './server.ts';
