/** `@mortise/tasks/client`: a client's half of tasks, in both generations. */

export { taskClient, type TaskClient, type TaskClientOptions } from './client/task-client.ts';
export type { TaskHandle, TaskOptions } from './client/task-handle.ts';
export type { TaskState } from './client/task-state.ts';
export { MemoryTaskHandleStore } from './client/memory-task-handle-store.ts';
export { InvalidTaskError, TaskInputError } from './client/errors.ts';
export type { TaskHandleRecord, TaskHandleStore } from '@mortise/protocol/contracts';
