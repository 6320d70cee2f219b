/** Sends a client's task requests and checks the responses, for 2025-11-25 ("legacy") and the 2026-07-28 extension ("modern"). */

import { InvalidResponseError, type JsonObject, type JsonRpcErrorObject, RemoteError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { checkServerResult, hasExtension } from '@mortise/protocol/checks';
import type { ClientExtensionHost, TaskStatus } from '@mortise/protocol/contracts';
import { TRANSITIONS } from '../engine/task-states.ts';
import { TaskError } from '../errors.ts';
import { TASKS_EXTENSION } from '../wire.ts';

/** The state of a task, as the server sent it. */
export interface TaskState {
  /** The task's id. */
  readonly taskId: string;
  /** The task's status. `completed`, `failed` and `cancelled` are final. */
  readonly status: TaskStatus;
  /** The server's text for people about the task's status; undefined if there is none. */
  readonly statusMessage: string | undefined;
  /** When the task was created: in ISO 8601, by the server's clock. */
  readonly createdAt: string | undefined;
  /** When the task last changed: in ISO 8601, by the server's clock. */
  readonly lastUpdatedAt: string | undefined;
  /** How long the server keeps the task after its creation, in milliseconds; null if there is no limit. */
  readonly ttlMs: number | null;
  /** The time between two polls that the server asks for, in milliseconds; undefined if it asks for none. */
  readonly pollIntervalMs: number | undefined;
}

/** A task's state with the input requests, result or error that servers with the 2026-07-28 tasks extension add to it. */
export interface DetailedState extends TaskState {
  readonly inputRequests?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: JsonRpcErrorObject;
}

/**
 * Reads the state of a task from a message of the 2026-07-28 tasks extension.
 *
 * @throws {InvalidResponseError} `ERR_INVALID_RESPONSE`: the message does not contain a valid task.
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
 * Reads the state of a task from a 2025-11-25 message.
 *
 * @throws {InvalidResponseError} `ERR_INVALID_RESPONSE`: the message does not contain a valid task.
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

/** The form of tasks that a server supports: the 2026-07-28 extension (`modern`) or 2025-11-25 (`legacy`); undefined for none. */
export type Generation = 'modern' | 'legacy' | undefined;

/** Finds the form of tasks (2026-07-28 extension, 2025-11-25 or none) that the server declares in its capabilities. */
export function generationOf({ revision, serverCapabilities }: ClientExtensionHost): Generation {
  if (revision.rules.coreTasks) return isJsonObject(serverCapabilities.tasks) ? 'legacy' : undefined;
  return revision.era === 'modern' && hasExtension(serverCapabilities, TASKS_EXTENSION) ? 'modern' : undefined;
}

/** Sends a client's task requests. The methods are the same for 2025-11-25 servers and for servers with the 2026-07-28 extension. */
export interface TaskWire {
  get(taskId: string, signal?: AbortSignal): Promise<DetailedState>;
  /** Gets the result of a task that has ended. @throws The error that the task ended with. */
  result(state: DetailedState, signal: AbortSignal): Promise<JsonObject>;
  /**
   * Sends `tasks/result` and resolves when the task ends. Until then a 2025-11-25 server sends its elicitation and sampling requests on the
   * stream of the response. Undefined for servers with the 2026-07-28 extension, which use `answer`.
   */
  readonly attend?: (taskId: string, signal: AbortSignal) => Promise<JsonObject>;
  /** Sends answers to a task's input requests. Undefined for 2025-11-25 servers, which send elicitation as a request of its own. */
  readonly answer?: (taskId: string, inputResponses: JsonObject, signal: AbortSignal) => Promise<void>;
  /** Cancels a task. @returns The cancelled task; undefined if the server's response does not contain the task. */
  cancel(taskId: string): Promise<DetailedState | undefined>;
}

/** Makes an object that sends task requests to servers with the 2026-07-28 tasks extension. */
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

/** Makes an object that sends task requests to 2025-11-25 servers. */
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

/** Returns a task's result if it is a tool result. @throws {InvalidResponseError} `ERR_INVALID_RESPONSE`: it is not one. */
function toToolResult(result: JsonObject): JsonObject {
  const problem = checkServerResult('tools/call', result);
  if (problem === undefined) return result;
  throw new InvalidResponseError(`the server sent a task result that is not a valid tool result: ${problem}`);
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

/** Whether a tool must, may or must not be called as a task. @see 2025-11-25 basic/utilities/tasks#tool-level-negotiation */
export type TaskSupport = 'forbidden' | 'optional' | 'required';

const MAX_PAGES = 1000;

export class ToolTaskSupport {
  readonly #host: ClientExtensionHost;
  readonly #known = new Map<string, TaskSupport>();

  constructor(host: ClientExtensionHost) {
    this.#host = host;
    host.onNotification('notifications/tools/list_changed', () => this.#known.clear());
  }

  /** Remembers the `taskSupport` of each tool on a page of `tools/list`. */
  learn(page: JsonObject): void {
    const { tools } = page;
    for (const tool of Array.isArray(tools) ? tools : []) {
      if (!isJsonObject(tool) || typeof tool['name'] !== 'string') continue;
      const { execution } = tool;
      const support = isJsonObject(execution) ? execution['taskSupport'] : undefined;
      this.#known.set(tool['name'], support === 'optional' || support === 'required' ? support : 'forbidden');
    }
  }

  /** Gives the `taskSupport` of a tool; undefined if no page of `tools/list` with this tool was read yet. */
  find(name: string): TaskSupport | undefined {
    return this.#known.get(name);
  }

  /** Finds a tool's `taskSupport` by reading pages of `tools/list`. A tool that is not listed counts as `forbidden`. */
  async look(name: string, signal?: AbortSignal): Promise<TaskSupport> {
    let cursor: unknown;
    for (let pages = 0; pages < MAX_PAGES && !this.#known.has(name); pages++) {
      const page = await this.#host.request('tools/list', typeof cursor === 'string' ? { cursor } : {}, { ...(signal && { signal }) });
      this.learn(page);
      if (typeof page['nextCursor'] !== 'string' || page['nextCursor'] === cursor) break;
      cursor = page['nextCursor'];
    }
    return this.#known.get(name) ?? 'forbidden';
  }
}
