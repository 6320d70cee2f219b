/** The forms of a task in messages: that of 2025-11-25 ("core"), and that of the 2026-07-28 tasks extension. */

import { isMortiseError, type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Task } from '@mortise/protocol/model';
import type { TaskRecord } from '@mortise/protocol/contracts';
import { META_RELATED_TASK } from '@mortise/protocol/wire';
import { isOutstanding, type TaskOutcome, toFailure } from './engine/task-states.ts';
import { TaskError, TaskLimitError } from './errors.ts';

/** The id of the 2026-07-28 tasks extension, as in `capabilities.extensions`. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The value of `TaskRecord.generation` for 2025-11-25 tasks. */
export const CORE_GENERATION = 'core';

/** The value of `TaskRecord.generation` for tasks of the 2026-07-28 extension. */
export const EXTENSION_GENERATION = 'extension';

/** The JSON-RPC error code for too many tasks or polls. It is HTTP's 429, outside the ranges that JSON-RPC and MCP reserve. */
const TOO_MANY = 429;

/** Converts a stored task to its form in 2025-11-25 messages. @see 2025-11-25 basic/utilities/tasks#task */
export function toCoreTask(record: TaskRecord): Task {
  return {
    taskId: record.id,
    status: record.status,
    ...(record.statusMessage === undefined ? {} : { statusMessage: record.statusMessage }),
    createdAt: toIso(record.createdAtMs),
    lastUpdatedAt: toIso(record.updatedAtMs),
    ttl: record.ttlMs,
    ...(record.pollIntervalMs === undefined ? {} : { pollInterval: record.pollIntervalMs }),
  };
}

/**
 * Gives the result of an ended task, for `tasks/result`.
 *
 * @throws {ProtocolError} The error that the task ended with. For a cancelled task: -32603 with `data.taskId` and `data.status`.
 */
export function toPayload(record: TaskRecord): JsonObject {
  if (record.result) return withRelatedTask(record.result, record.id);
  if (record.error) throw new ProtocolError(record.error.code, record.error.message, record.error.data);
  throw new ProtocolError(INTERNAL_ERROR, `The task has no result: it is ${record.status}`, { taskId: record.id, status: record.status });
}

/** Adds to a message's `_meta` the id of the task that the message belongs to. */
export function withRelatedTask(message: JsonObject, taskId: string): JsonObject {
  const meta = message['_meta'];
  return { ...message, _meta: { ...(isJsonObject(meta) ? meta : {}), [META_RELATED_TASK]: { taskId } } };
}

function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

/** The text of a tool result's first content block, cut to 500 characters; undefined if it has none. */
function textOf(result: JsonObject): string | undefined {
  const { content } = result;
  const [first]: readonly unknown[] = Array.isArray(content) ? content : [];
  const text = isJsonObject(first) ? first['text'] : undefined;
  return typeof text === 'string' && text !== '' ? text.slice(0, 500) : undefined;
}

/** Converts a stored task to its form in the 2026-07-28 extension, with its open input requests, result or error. */
export function toDetailedTask(record: TaskRecord): JsonObject {
  return { ...toTask(record), ...detailOf(record) };
}

/** Makes the result of a tool call that became a task, in the form of the 2026-07-28 extension. */
export function toCreated(record: TaskRecord): JsonObject {
  return { resultType: 'task', ...toTask(record) };
}

function toTask(record: TaskRecord): JsonObject {
  return {
    taskId: record.id,
    // A failed 2025-11-25 task may have a result. In the extension, a task with a result is completed.
    status: record.status === 'failed' && record.result ? 'completed' : record.status,
    ...(record.statusMessage === undefined ? {} : { statusMessage: record.statusMessage }),
    createdAt: toIso(record.createdAtMs),
    lastUpdatedAt: toIso(record.updatedAtMs),
    ttlMs: record.ttlMs,
    ...(record.pollIntervalMs === undefined ? {} : { pollIntervalMs: record.pollIntervalMs }),
  };
}

function detailOf({ status, result, error, asks }: TaskRecord): JsonObject {
  if (result) return { result };
  if (status === 'failed' && error) return { error: { ...error } };
  if (status !== 'input_required') return {};
  return { inputRequests: Object.fromEntries(asks.filter(isOutstanding).map(({ key, method, params }) => [key, { method, params }])) };
}

/** How a task ends whose tool returned this result: as completed; as failed if the result has `isError` and the task is of 2025-11-25. */
export function toOutcome(generation: string, result: JsonObject): TaskOutcome {
  const { resultType, isError } = result;
  if (typeof resultType === 'string' && resultType !== 'complete')
    return toFailure(new Error(`A task cannot end with a tool result of resultType "${resultType}": return a complete result`));
  if (generation !== CORE_GENERATION || isError !== true) return { status: 'completed', result };
  return { status: 'failed', result, statusMessage: textOf(result) ?? 'The tool failed' };
}

/** Runs `fn` and converts this package's errors to JSON-RPC errors. Other errors pass unchanged. */
export async function withWireErrors<T>(fn: () => Promise<T>): Promise<T> {
  try {
    return await fn();
  } catch (error) {
    if (error instanceof TaskError && error.code === 'ERR_TASK_NOT_FOUND') throw new ProtocolError(INVALID_PARAMS, error.message);
    // A `TaskLimitError`, or the error of a full task store.
    if (!isMortiseError(error) || error.code !== 'ERR_TASK_LIMIT') throw error;
    const retryAfterMs = error instanceof TaskLimitError ? error.retryAfterMs : undefined;
    throw new ProtocolError(TOO_MANY, error.message, retryAfterMs === undefined ? undefined : { retryAfterMs });
  }
}
