/**
 * `@mortise/tasks`: the errors, the in-memory store and the in-memory queue of tasks, which servers and clients share. Servers also import
 * `@mortise/tasks/server`, clients `@mortise/tasks/client`.
 */

export { MemoryTaskStore, type MemoryTaskStoreOptions } from './memory-task-store.ts';
export { MemoryTaskQueue, type MemoryTaskQueueOptions } from './memory-task-queue.ts';
export { type AnyTaskError, TaskError, type TaskErrorCode, TaskInputError, TaskLimitError } from './errors.ts';
export type { TaskRecord, TaskStatus, TaskStore } from '@mortise/protocol/contracts';
