/**
 * `@mortise/tasks`: durable long work. What both halves share: errors, and the store and the queue of one process. A server's half is at
 * `/server`, a client's at `/client`.
 */

export { MemoryTaskStore, type MemoryTaskStoreOptions } from './memory-task-store.ts';
export { MemoryTaskQueue, type MemoryTaskQueueOptions } from './memory-task-queue.ts';
export { type AnyTaskError, TaskError, type TaskErrorCode, TaskInputError, TaskLimitError } from './errors.ts';
export type { TaskRecord, TaskStatus, TaskStore } from '@mortise/protocol/contracts';
