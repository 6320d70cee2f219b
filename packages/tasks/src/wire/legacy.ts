/** The core's own generation of tasks on the wire. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Task } from '@mortise/protocol/model';
import type { TaskRecord } from '@mortise/protocol/contracts';
import { META_RELATED_TASK } from '@mortise/protocol/wire';
import type { TaskOutcome } from '../engine/engine-options.ts';

/** A task as it is told. @see 2025-11-25 basic/utilities/tasks#task */
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

/** How a result ends a task: one that says that the tool failed ends it as failed. */
export function toCoreOutcome(result: JsonObject): TaskOutcome {
  if (result['isError'] !== true) return { status: 'completed', result };
  return { status: 'failed', result, statusMessage: textOf(result) ?? 'The tool failed' };
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

/** A moment in ISO 8601. */
export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

/** The first text of a result. */
export function textOf(result: JsonObject): string | undefined {
  const { content } = result;
  const [first]: readonly unknown[] = Array.isArray(content) ? content : [];
  const text = isJsonObject(first) ? first['text'] : undefined;
  return typeof text === 'string' && text !== '' ? text.slice(0, 500) : undefined;
}
