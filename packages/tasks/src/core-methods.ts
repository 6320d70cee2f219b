/** Handlers of the 2025-11-25 `tasks/*` requests. Servers and clients share them, because both may run tasks in 2025-11-25. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { Principal, TaskRecord } from '@mortise/protocol/contracts';
import type { TaskEngine } from './engine/task-engine.ts';
import { TaskError } from './errors.ts';
import { CORE_GENERATION, toCoreTask, toPayload } from './wire.ts';

/** How many tasks a page of `tasks/list` holds. */
const PAGE_SIZE = 100;

/** The sender of a 2025-11-25 `tasks/*` request. */
export interface CoreCaller {
  readonly principal: Principal;
  readonly signal?: AbortSignal;
  /** Called with the task of a `tasks/get` or `tasks/result` request, and again after each change while `tasks/result` waits. */
  onRecord(task: TaskRecord): void;
}

const isCore = ({ generation }: TaskRecord): boolean => generation === CORE_GENERATION;

/** Returns the task if it is a 2025-11-25 task. @throws {TaskError} `ERR_TASK_NOT_FOUND`: it is a task of the 2026-07-28 extension. */
function requireCore(task: TaskRecord): TaskRecord {
  if (isCore(task)) return task;
  throw new TaskError('ERR_TASK_NOT_FOUND', 'No such task: it was created in another protocol version');
}

type CoreMethod = (engine: TaskEngine, params: JsonObject, caller: CoreCaller) => Promise<JsonObject>;

/** The handlers of the 2025-11-25 task requests, by method. */
export const CORE_METHODS: Readonly<Record<string, CoreMethod>> = {
  async 'tasks/get'(engine, { taskId }, { principal, onRecord }) {
    const task = requireCore(await engine.poll(taskId, principal));
    onRecord(task);
    return toCoreTask(task);
  },

  async 'tasks/result'(engine, { taskId }, { principal, signal, onRecord }) {
    return toPayload(await engine.waitFor(requireCore(await engine.poll(taskId, principal)), onRecord, signal));
  },

  async 'tasks/list'(engine, { cursor }, { principal }) {
    const position = cursor === undefined ? {} : { cursor: String(cursor) };
    const { tasks, nextCursor } = await engine.list(principal, { limit: PAGE_SIZE, ...position }).catch(refuseCursor);
    return { tasks: tasks.filter(isCore).map(toCoreTask), ...(nextCursor !== undefined && { nextCursor }) };
  },

  async 'tasks/cancel'(engine, { taskId }, { principal }) {
    const { record, isChanged } = await engine.cancel(requireCore(await engine.get(taskId, principal)));
    if (!isChanged) throw new ProtocolError(INVALID_PARAMS, `The task cannot be cancelled: it is already ${record.status}`);
    return toCoreTask(record);
  },
};

/** Converts the RangeError with which a task store rejects an unknown cursor to "invalid params". Rethrows other errors. */
function refuseCursor(error: unknown): never {
  if (!(error instanceof RangeError)) throw error;
  throw new ProtocolError(INVALID_PARAMS, 'Unknown cursor: list the tasks again without a cursor');
}
