/** `TaskHandle`, with which a client follows one task, and `MemoryTaskHandleStore`, which keeps task ids. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CallToolResult } from '@mortise/protocol';
import type { TaskHandleRecord, TaskHandleStore } from '@mortise/protocol/contracts';
import type { TaskFollower } from './task-follower.ts';
import type { TaskState } from './task-wire.ts';

/** The options of `TaskClient.start` and of the methods of a `TaskHandle`. */
export interface TaskOptions {
  /** Stops the waiting when it aborts. Does not cancel a task that already has a handle. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** A task on a server, as its client sees it: its state, its result, and a method to cancel it. */
export interface TaskHandle {
  /** The task's id; undefined if the tool returned its result directly. Keep it secret: whoever knows it may be able to read the task. */
  readonly id: string | undefined;
  /** The last state that the server sent. Reading it sends no request. Undefined for a handle of `resumeTask` until its first poll. */
  readonly state: TaskState | undefined;
  /** A text from the server that the model may use while the task runs; undefined if there is none. */
  readonly immediateResponse: string | undefined;
  /** Gets the task's current state from the server. @throws {TaskError} `ERR_TASK_NOT_FOUND` */
  status(options?: TaskOptions): Promise<TaskState>;
  /** Yields the task's current state and each later one until it ends. The client's handlers answer its input requests meanwhile. */
  updates(options?: TaskOptions): AsyncIterable<TaskState>;
  /**
   * Waits for the tool's result. The client's handlers answer the task's input requests (such as elicitation) meanwhile.
   *
   * @throws {RemoteError} The tool call failed with a JSON-RPC error.
   * @throws {TaskError} `ERR_TASK_CANCELLED` or `ERR_TASK_NOT_FOUND`: the task will have no result.
   * @throws {TaskInputError} An input request was not answered. The task continues; call `result` again to answer it.
   */
  result(options?: TaskOptions): Promise<CallToolResult>;
  /** Asks the server to cancel the task. A modern (2026-07-28) server may still finish it. @throws {TaskError} `ERR_TASK_NOT_FOUND` */
  cancel(): Promise<void>;
}

/** Makes the `TaskHandle` that the program gets for a task. */
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

/** Makes a `TaskHandle` for a tool call whose result came directly, without a task. Its state is `completed` from the start. */
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

/** Keeps the ids of a client's tasks in memory. The ids are lost when the process ends. */
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
