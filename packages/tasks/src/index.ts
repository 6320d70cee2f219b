/**
 * `@mortise/tasks`: durable long work. What both halves share: errors, the states of a task, the stores and the queue of one process,
 * and the engine. A server's half is at `/server`, a client's at `/client`.
 */

// What programs use.
export { MemoryTaskStore, type MemoryTaskStoreOptions } from './memory-task-store.ts';
export { MemoryTaskQueue, type MemoryTaskQueueOptions } from './memory-task-queue.ts';
export {
  type AnyTaskError,
  TaskCancelledError,
  TaskInputError,
  TaskLimitError,
  TaskLostError,
  TaskNotFoundError,
  TaskUnavailableError,
} from './errors.ts';
export type { TaskRecord, TaskStatus, TaskStore } from '@mortise/protocol/contracts';

// What implementers of stores and of hosts of tasks use.
export { isEnded, TRANSITIONS } from './engine/task-states.ts';
