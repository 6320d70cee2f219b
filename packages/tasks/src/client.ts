/** `@mortise/tasks/client`: lets a client call tools as tasks, on servers of 2025-11-25 and with the 2026-07-28 tasks extension. */

export { taskClient, type TaskClient, type TaskClientOptions } from './client/task-client.ts';
export type { TaskHandle, TaskOptions } from './client/task-handle.ts';
export type { TaskState } from './client/task-wire.ts';
export { MemoryTaskHandleStore } from './client/task-handle.ts';
export { TaskInputError } from './errors.ts';
export type { TaskHandleRecord, TaskHandleStore } from '@mortise/protocol/contracts';
