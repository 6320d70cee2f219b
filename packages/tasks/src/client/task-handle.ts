/** `TaskHandle`, a client's view of one task, and `MemoryTaskHandleStore`. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CallToolResult } from '@mortise/protocol';
import type { TaskHandleRecord, TaskHandleStore } from '@mortise/protocol/contracts';
import type { TaskFollower } from './task-follower.ts';
import type { TaskState } from './task-wire.ts';

/** The options of one request about a task. */
export interface TaskOptions {
  /** Stops waiting. The task itself continues. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** One task of a server. */
export interface TaskHandle {
  /** The task's id; undefined if the tool returned its result directly. Keep it secret: whoever knows it may be able to read the task. */
  readonly id: string | undefined;
  /** The last known state, without a request; undefined for a handle of `resumeTask` until its first poll. */
  readonly state: TaskState | undefined;
  /** A text from the server for the model while the task runs; undefined if there is none. */
  readonly immediateResponse: string | undefined;
  /** Gets the current state from the server. @throws {TaskError} `ERR_TASK_NOT_FOUND` */
  status(options?: TaskOptions): Promise<TaskState>;
  /** Yields the current state and each change until the task ends. The client's handlers answer the task's questions meanwhile. */
  updates(options?: TaskOptions): AsyncIterable<TaskState>;
  /**
   * Waits for the tool's result. The client's handlers answer the task's questions meanwhile.
   *
   * @throws {RemoteError} The server responded with an error, as it can without a task.
   * @throws {TaskError} `ERR_TASK_CANCELLED`, `ERR_TASK_NOT_FOUND`: there will be no result.
   * @throws {TaskInputError} A question was not answered. The task continues; call `result` again to be asked again.
   */
  result(options?: TaskOptions): Promise<CallToolResult>;
  /** Cancels the task. A modern server may still finish it. @throws {TaskError} `ERR_TASK_NOT_FOUND` */
  cancel(): Promise<void>;
}

/** Makes the handle of a task. */
export function toHandle(follower: TaskFollower, immediateResponse?: string): TaskHandle {
  return {
    id: follower.taskId,
    immediateResponse,
    get state() {
      return follower.state;
    },
    status: ({ signal } = {}) => follower.refresh(signal),
    updates: ({ signal } = {}) => follower.updates(signal),
    result: async ({ signal } = {}) => toToolResult(await follower.result(signal)),
    cancel: () => follower.cancel(),
  };
}

/** Makes the handle of a call that returned its result without a task. */
export function toSettledHandle(result: JsonObject): TaskHandle {
  const now = new Date().toISOString();
  const state: TaskState = {
    taskId: '',
    status: 'completed',
    statusMessage: undefined,
    createdAt: now,
    lastUpdatedAt: now,
    ttlMs: null,
    pollIntervalMs: undefined,
  };
  return {
    id: undefined,
    state,
    immediateResponse: undefined,
    status: () => Promise.resolve(state),
    async *updates() {
      yield state;
    },
    result: () => Promise.resolve(toToolResult(result)),
    cancel: () => Promise.resolve(),
  };
}

function toToolResult(result: JsonObject): CallToolResult {
  return (Array.isArray(result['content']) ? result : { ...result, content: [] }) as CallToolResult;
}

/** Keeps task ids in memory. They are lost when the process ends. */
export class MemoryTaskHandleStore implements TaskHandleStore {
  readonly #handles = new Map<string, Map<string, TaskHandleRecord>>();

  add(handle: TaskHandleRecord): Promise<void> {
    const handles = this.#handles.get(handle.server) ?? new Map<string, TaskHandleRecord>();
    this.#handles.set(handle.server, handles.set(handle.taskId, { ...handle }));
    return Promise.resolve();
  }

  remove(server: string, taskId: string): Promise<void> {
    this.#handles.get(server)?.delete(taskId);
    return Promise.resolve();
  }

  list(server: string): Promise<readonly TaskHandleRecord[]> {
    return Promise.resolve([...(this.#handles.get(server)?.values() ?? [])]);
  }
}
