/** `TaskHandle`: what a program holds of one task of a server; and the store of their ids in this process's memory. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CallToolResult } from '@mortise/protocol';
import type { TaskHandleRecord, TaskHandleStore } from '@mortise/protocol/contracts';
import type { TaskFollower } from './task-follower.ts';
import type { TaskState } from './task-wire.ts';

/** The options of one request about a task. */
export interface TaskOptions {
  /** Stops the waiting, and nothing else; the task goes on. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** One task of a server. */
export interface TaskHandle {
  /** Names the task at its server. Keep it secret: who has it may be able to read the task. Undefined where the tool answered at once. */
  readonly id: string | undefined;
  /** The last known state, without a request; undefined for a task of an earlier run until its first poll. */
  readonly state: TaskState | undefined;
  /** What the server wants a model to be told while the task runs; undefined where it says nothing. */
  readonly immediateResponse: string | undefined;
  /** Asks the server how the task is. @throws {TaskError} `ERR_TASK_NOT_FOUND` */
  status(options?: TaskOptions): Promise<TaskState>;
  /** The state now and each change; the loop ends with the task. What the task asks is answered meanwhile. */
  updates(options?: TaskOptions): AsyncIterable<TaskState>;
  /**
   * Waits for the tool's result. What the task asks meanwhile is answered once, by the program's own handlers.
   *
   * @throws {RemoteError} The call failed, as it would have without a task.
   * @throws {TaskError} `ERR_TASK_CANCELLED`, `ERR_TASK_NOT_FOUND`: there will be no result.
   * @throws {TaskInputError} A question was not answered. The task goes on; wait again to be asked again.
   */
  result(options?: TaskOptions): Promise<CallToolResult>;
  /** Cancels the task. The modern generation's server may finish it all the same. @throws {TaskError} `ERR_TASK_NOT_FOUND` */
  cancel(): Promise<void>;
}

/** A handle on a task that runs at its server. */
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

/** A handle on a call that was answered at once. */
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

/** Keeps the ids of tasks as long as the process lives. */
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
