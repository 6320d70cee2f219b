/** Tasks on the wire, in both generations: the core's of 2025-11-25, and the extension of 2026-07-28. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Task } from '@mortise/protocol/model';
import type { TaskRecord } from '@mortise/protocol/contracts';
import { META_RELATED_TASK } from '@mortise/protocol/wire';
import { isOutstanding, type TaskOutcome, toFailure } from './engine/task-states.ts';
import { TaskError, TaskLimitError } from './errors.ts';

/** The extension of the modern generation. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** `TaskRecord.generation` of tasks of the core's own first generation. */
export const CORE_GENERATION = 'core';

/** `TaskRecord.generation` of tasks of the extension. */
export const EXTENSION_GENERATION = 'extension';

/** The JSON-RPC code where a limit was reached: that of HTTP, outside the ranges that JSON-RPC and MCP reserve. */
const TOO_MANY = 429;

/** A task of the core's generation. @see 2025-11-25 basic/utilities/tasks#task */
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
 * What the request of a task that has ended would have given.
 *
 * @throws {ProtocolError} The error that it would have given; -32603 with `data.taskId` and `data.status` for a cancelled one.
 */
export function toPayload(record: TaskRecord): JsonObject {
  if (record.result) return withRelatedTask(record.result, record.id);
  if (record.error) throw new ProtocolError(record.error.code, record.error.message, record.error.data);
  throw new ProtocolError(INTERNAL_ERROR, `The task has no result: it is ${record.status}`, { taskId: record.id, status: record.status });
}

/** Says which task a message belongs to. */
export function withRelatedTask(message: JsonObject, taskId: string): JsonObject {
  const meta = message['_meta'];
  return { ...message, _meta: { ...(isJsonObject(meta) ? meta : {}), [META_RELATED_TASK]: { taskId } } };
}

function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

/** The first text of a result. */
function textOf(result: JsonObject): string | undefined {
  const { content } = result;
  const [first]: readonly unknown[] = Array.isArray(content) ? content : [];
  const text = isJsonObject(first) ? first['text'] : undefined;
  return typeof text === 'string' && text !== '' ? text.slice(0, 500) : undefined;
}

/** A task of the extension, with what belongs to its state: questions, result or error. */
export function toDetailedTask(record: TaskRecord): JsonObject {
  return { ...toTask(record), ...detailOf(record) };
}

/** The result of a call that became a task of the extension. */
export function toCreated(record: TaskRecord): JsonObject {
  return { resultType: 'task', ...toTask(record) };
}

function toTask(record: TaskRecord): JsonObject {
  return {
    taskId: record.id,
    // A failed task of the core's generation may have a result; in the extension a task with a result has completed.
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

/** How a result ends a task. In the core's generation one that says `isError` ends it as failed. */
export function toOutcome(generation: string, result: JsonObject): TaskOutcome {
  const { resultType, isError } = result;
  if (typeof resultType === 'string' && resultType !== 'complete')
    return toFailure(new Error(`A task cannot end with a result of the kind "${resultType}"`));
  if (generation !== CORE_GENERATION || isError !== true) return { status: 'completed', result };
  return { status: 'failed', result, statusMessage: textOf(result) ?? 'The tool failed' };
}

/** Runs `fn`, and turns this package's own errors into those of JSON-RPC; other errors pass. */
export async function withWireErrors<T>(fn: () => Promise<T>): Promise<T> {
  try {
    return await fn();
  } catch (error) {
    if (error instanceof TaskError && error.code === 'ERR_TASK_NOT_FOUND') throw new ProtocolError(INVALID_PARAMS, error.message);
    if (!(error instanceof TaskLimitError)) throw error;
    const { retryAfterMs } = error;
    throw new ProtocolError(TOO_MANY, error.message, retryAfterMs === undefined ? undefined : { retryAfterMs });
  }
}
