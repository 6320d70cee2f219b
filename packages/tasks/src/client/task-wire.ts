/** Sends task requests and checks the responses, for 2025-11-25 ("legacy") and for the 2026-07-28 extension ("modern"). */

import { InvalidResponseError, type JsonObject, type JsonRpcErrorObject, RemoteError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { checkServerResult, hasExtension } from '@mortise/protocol/checks';
import type { ClientExtensionHost, TaskStatus } from '@mortise/protocol/contracts';
import { TRANSITIONS } from '../engine/task-states.ts';
import { TaskError } from '../errors.ts';
import { TASKS_EXTENSION } from '../wire.ts';

/** The state of a task. */
export interface TaskState {
  readonly taskId: string;
  /** `completed`, `failed` and `cancelled` are final. */
  readonly status: TaskStatus;
  /** A text for people. */
  readonly statusMessage: string | undefined;
  /** ISO 8601, by the server's clock. */
  readonly createdAt: string | undefined;
  /** ISO 8601, by the server's clock. */
  readonly lastUpdatedAt: string | undefined;
  /** How long the server keeps the task after its creation, in milliseconds; null without limit. */
  readonly ttlMs: number | null;
  /** The poll interval that the server asks for, in milliseconds. */
  readonly pollIntervalMs: number | undefined;
}

/** A state with the questions, result or error that the modern generation adds. */
export interface DetailedState extends TaskState {
  readonly inputRequests?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: JsonRpcErrorObject;
}

/**
 * Reads a task of the 2026-07-28 extension.
 *
 * @throws {InvalidResponseError} `ERR_INVALID_RESPONSE`: not a valid task.
 */
export function readModernTask(value: JsonObject): DetailedState {
  const { inputRequests, result, error } = value;
  return {
    ...readTask(value, value['ttlMs'], value['pollIntervalMs']),
    ...(isJsonObject(inputRequests) && { inputRequests }),
    ...(isJsonObject(result) && { result }),
    ...(isErrorObject(error) && { error }),
  };
}

/**
 * Reads a 2025-11-25 task.
 *
 * @throws {InvalidResponseError} `ERR_INVALID_RESPONSE`: not a valid task.
 */
export function readLegacyTask(value: JsonObject): DetailedState {
  return readTask(value, value['ttl'], value['pollInterval']);
}

function readTask(value: JsonObject, ttl: unknown, interval: unknown): TaskState {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt } = value;
  if (typeof taskId !== 'string' || taskId === '') throw new InvalidResponseError('the server sent a task without a taskId');
  if (typeof status !== 'string' || !Object.hasOwn(TRANSITIONS, status))
    throw new InvalidResponseError(`the server sent a task with the unknown status ${JSON.stringify(status)}`);
  return {
    taskId,
    status: status as TaskStatus,
    statusMessage: textOf(statusMessage),
    createdAt: textOf(createdAt),
    lastUpdatedAt: textOf(lastUpdatedAt),
    ttlMs: typeof ttl === 'number' ? ttl : null,
    pollIntervalMs: typeof interval === 'number' && interval >= 0 ? interval : undefined,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isErrorObject(value: unknown): value is JsonRpcErrorObject {
  return isJsonObject(value) && Number.isInteger(value['code']) && typeof value['message'] === 'string';
}

/** Which kind of tasks a server has: the 2026-07-28 extension (`modern`) or 2025-11-25 (`legacy`); undefined for none. */
export type Generation = 'modern' | 'legacy' | undefined;

/** The kind of tasks that the server declares. */
export function generationOf({ revision, serverCapabilities }: ClientExtensionHost): Generation {
  if (revision.rules.coreTasks) return isJsonObject(serverCapabilities.tasks) ? 'legacy' : undefined;
  return revision.era === 'modern' && hasExtension(serverCapabilities, TASKS_EXTENSION) ? 'modern' : undefined;
}

/** The task requests, the same for both kinds of servers. */
export interface TaskWire {
  get(taskId: string, signal?: AbortSignal): Promise<DetailedState>;
  /** Gets the result of an ended task's request. @throws The request's error. */
  result(state: DetailedState, signal: AbortSignal): Promise<JsonObject>;
  /**
   * Sends `tasks/result`, on whose stream a legacy server asks its questions. Resolves when the task ends. Undefined for modern servers,
   * which use `answer`.
   */
  readonly attend?: (taskId: string, signal: AbortSignal) => Promise<JsonObject>;
  /** Sends answers to the task's questions; undefined for legacy servers, which ask by requests. */
  readonly answer?: (taskId: string, inputResponses: JsonObject, signal: AbortSignal) => Promise<void>;
  /** @returns The cancelled task; undefined if the response does not carry it. */
  cancel(taskId: string): Promise<DetailedState | undefined>;
}

/** The task requests of the 2026-07-28 extension. */
export function modernWire(host: ClientExtensionHost): TaskWire {
  return {
    get: async (taskId, signal) =>
      checkId(readModernTask(await host.request('tasks/get', { taskId }, { ...(signal && { signal }) })), taskId),
    async result({ status, statusMessage, result, error }) {
      if (status === 'completed' && result) return toToolResult(result);
      if (error) throw new RemoteError(error, 'tools/call');
      if (status === 'cancelled') throw new TaskError('ERR_TASK_CANCELLED', statusMessage ?? 'the task was cancelled');
      throw new InvalidResponseError(`the task is ${status}, but the server sent neither a result nor an error`);
    },
    async answer(taskId, inputResponses, signal) {
      await host.request('tasks/update', { taskId, inputResponses }, { signal });
    },
    async cancel(taskId) {
      await host.request('tasks/cancel', { taskId });
      return undefined;
    },
  };
}

/** The task requests of 2025-11-25. */
export function legacyWire(host: ClientExtensionHost): TaskWire {
  const result = async (taskId: string, signal: AbortSignal): Promise<JsonObject> => {
    try {
      // The server responds only when the task has ended.
      return toToolResult(await host.request('tasks/result', { taskId }, { signal, timeoutMs: Infinity }));
    } catch (error) {
      throw isCancelled(error) ? new TaskError('ERR_TASK_CANCELLED', error.message, { cause: error }) : error;
    }
  };
  return {
    get: async (taskId, signal) =>
      checkId(readLegacyTask(await host.request('tasks/get', { taskId }, { ...(signal && { signal }) })), taskId),
    result: ({ taskId }, signal) => result(taskId, signal),
    attend: result,
    cancel: async (taskId) => checkId(readLegacyTask(await host.request('tasks/cancel', { taskId })), taskId),
  };
}

/** @throws {InvalidResponseError} `ERR_INVALID_RESPONSE`: the result is not a tool result. */
function toToolResult(result: JsonObject): JsonObject {
  const problem = checkServerResult('tools/call', result);
  if (problem === undefined) return result;
  throw new InvalidResponseError(`the server sent a malformed result of a task: ${problem}`);
}

function isCancelled(error: unknown): error is RemoteError {
  return (
    error instanceof RemoteError && error.rpcCode === INTERNAL_ERROR && isJsonObject(error.data) && error.data['status'] === 'cancelled'
  );
}

function checkId(state: DetailedState, taskId: string): DetailedState {
  if (state.taskId !== taskId) throw new InvalidResponseError('the server responded with another task than the requested one');
  return state;
}

/** Whether a tool may be called as a task. @see 2025-11-25 basic/utilities/tasks#tool-level-negotiation */
export type TaskSupport = 'forbidden' | 'optional' | 'required';

const MAX_PAGES = 1000;

export class ToolTaskSupport {
  readonly #host: ClientExtensionHost;
  readonly #known = new Map<string, TaskSupport>();

  constructor(host: ClientExtensionHost) {
    this.#host = host;
    host.onNotification('notifications/tools/list_changed', () => this.#known.clear());
  }

  /** Remembers the task support of each tool on a page of `tools/list`. */
  learn(page: JsonObject): void {
    const { tools } = page;
    for (const tool of Array.isArray(tools) ? tools : []) {
      if (!isJsonObject(tool) || typeof tool['name'] !== 'string') continue;
      const { execution } = tool;
      const support = isJsonObject(execution) ? execution['taskSupport'] : undefined;
      this.#known.set(tool['name'], support === 'optional' || support === 'required' ? support : 'forbidden');
    }
  }

  /** The known task support of a tool; undefined if its page was not read. */
  find(name: string): TaskSupport | undefined {
    return this.#known.get(name);
  }

  /** Reads `tools/list` until the tool is found. A tool that is not listed counts as `forbidden`. */
  async look(name: string): Promise<TaskSupport> {
    let cursor: unknown;
    for (let pages = 0; pages < MAX_PAGES && !this.#known.has(name); pages++) {
      const page = await this.#host.request('tools/list', typeof cursor === 'string' ? { cursor } : {});
      this.learn(page);
      if (typeof page['nextCursor'] !== 'string' || page['nextCursor'] === cursor) break;
      cursor = page['nextCursor'];
    }
    return this.#known.get(name) ?? 'forbidden';
  }
}
