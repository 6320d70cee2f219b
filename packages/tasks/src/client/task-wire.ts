/** What a follower of tasks asks of a server: the two generations' wires, behind one interface. */

import { type JsonObject, RemoteError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ClientExtensionHost } from '@mortise/protocol/contracts';
import { hasExtension } from '@mortise/protocol/checks';
import { TaskCancelledError } from '../errors.ts';
import { TASKS_EXTENSION } from '../wire/names.ts';
import { InvalidTaskError } from './errors.ts';
import { type DetailedState, readLegacyTask, readModernTask } from './task-state.ts';

/** Which tasks a server has; undefined for one that has none. */
export type Generation = 'modern' | 'legacy' | undefined;

/** Says which tasks the server of a session has. */
export function generationOf({ revision, serverCapabilities }: ClientExtensionHost): Generation {
  if (revision.rules.coreTasks) return isJsonObject(serverCapabilities.tasks) ? 'legacy' : undefined;
  return revision.era === 'modern' && hasExtension(serverCapabilities, TASKS_EXTENSION) ? 'modern' : undefined;
}

/** One generation's requests about tasks. */
export interface TaskWire {
  get(taskId: string, signal?: AbortSignal): Promise<DetailedState>;
  /** What the task's own request would have given. @throws What it would have thrown. */
  result(state: DetailedState, signal: AbortSignal): Promise<JsonObject>;
  /**
   * Opens the way on which the server asks while the task waits for input, and stays open until the task ends; undefined where answers
   * travel by `answer`.
   */
  readonly attend?: (taskId: string, signal: AbortSignal) => Promise<JsonObject>;
  /** Gives answers to what the task asks; undefined where the server asks by requests of its own. */
  readonly answer?: (taskId: string, inputResponses: JsonObject, signal: AbortSignal) => Promise<void>;
  /** @returns The task as it is then, where the server tells. */
  cancel(taskId: string): Promise<DetailedState | undefined>;
}

/** The extension's wire. */
export function modernWire(host: ClientExtensionHost): TaskWire {
  return {
    get: async (taskId, signal) =>
      checkId(readModernTask(await host.request('tasks/get', { taskId }, { ...(signal && { signal }) })), taskId),
    async result({ status, statusMessage, result, error }) {
      if (status === 'completed' && result) return result;
      if (error) throw new RemoteError(error, 'tools/call');
      if (status === 'cancelled') throw new TaskCancelledError(statusMessage ?? 'the task was cancelled');
      throw new InvalidTaskError(`the server says that the task is ${status} but not with what`);
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

/** The wire of the core's first generation. */
export function legacyWire(host: ClientExtensionHost): TaskWire {
  const result = async (taskId: string, signal: AbortSignal): Promise<JsonObject> => {
    try {
      // It waits as long as the task lasts.
      return await host.request('tasks/result', { taskId }, { signal, timeoutMs: Infinity });
    } catch (error) {
      throw isCancelled(error) ? new TaskCancelledError(error.message, { cause: error }) : error;
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

function isCancelled(error: unknown): error is RemoteError {
  return (
    error instanceof RemoteError && error.rpcCode === INTERNAL_ERROR && isJsonObject(error.data) && error.data['status'] === 'cancelled'
  );
}

function checkId(state: DetailedState, taskId: string): DetailedState {
  if (state.taskId !== taskId) throw new InvalidTaskError('the server answered about another task than it was asked for');
  return state;
}
