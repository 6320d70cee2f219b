/** The extension's generation of tasks on the wire. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { TaskRecord } from '@mortise/protocol/contracts';
import type { TaskOutcome } from '../engine/engine-options.ts';
import { isOutstanding } from '../engine/transitions.ts';
import { toIso } from './legacy.ts';

/** A task with what belongs to its state: questions, result or error. */
export function toDetailedTask(record: TaskRecord): JsonObject {
  return { ...toTask(record), ...detailOf(record) };
}

/** The answer that promises a result later. */
export function toCreated(record: TaskRecord): JsonObject {
  return { resultType: 'task', ...toTask(record) };
}

/** How a result ends a task: whatever it says, it is the result. */
export function toExtensionOutcome(result: JsonObject): TaskOutcome {
  return { status: 'completed', result };
}

function toTask(record: TaskRecord): JsonObject {
  return {
    taskId: record.id,
    // Of the other generation's failures some have a result, which here is how a task completes.
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
