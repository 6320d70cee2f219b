/** A task as a server tells it, read from either wire. */

import type { JsonObject, JsonRpcErrorObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { TaskStatus } from '@mortise/protocol/contracts';
import { TRANSITIONS } from '../engine/transitions.ts';
import { InvalidTaskError } from './errors.ts';

/** What is known of a task. */
export interface TaskState {
  readonly taskId: string;
  /** `completed`, `failed` and `cancelled` are final. */
  readonly status: TaskStatus;
  /** For people: what goes on. */
  readonly statusMessage: string | undefined;
  /** ISO 8601, by the server's clock. */
  readonly createdAt: string | undefined;
  /** ISO 8601, by the server's clock. */
  readonly lastUpdatedAt: string | undefined;
  /** How long the server keeps the task from its creation, in milliseconds; null for no end. */
  readonly ttlMs: number | null;
  /** How often the server wants to be asked, in milliseconds. */
  readonly pollIntervalMs: number | undefined;
}

/** A state with what comes with it in the modern generation. */
export interface DetailedState extends TaskState {
  readonly inputRequests?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: JsonRpcErrorObject;
}

/**
 * Reads a task of the extension.
 *
 * @throws {InvalidTaskError} `ERR_INVALID_TASK`: what came is no task.
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
 * Reads a task of the core's first generation.
 *
 * @throws {InvalidTaskError} `ERR_INVALID_TASK`: what came is no task.
 */
export function readLegacyTask(value: JsonObject): DetailedState {
  return readTask(value, value['ttl'], value['pollInterval']);
}

function readTask(value: JsonObject, ttl: unknown, interval: unknown): TaskState {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt } = value;
  if (typeof taskId !== 'string' || taskId === '') throw new InvalidTaskError('the server told of a task without a taskId');
  if (typeof status !== 'string' || !Object.hasOwn(TRANSITIONS, status))
    throw new InvalidTaskError(`the server told of a task with the status ${JSON.stringify(status)}, which the protocol does not have`);
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
