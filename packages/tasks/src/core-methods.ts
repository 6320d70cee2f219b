/** Handlers of the 2025-11-25 `tasks/*` requests. Servers and clients share them. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { Principal, TaskRecord } from '@mortise/protocol/contracts';
import type { TaskEngine } from './engine/task-engine.ts';
import { TaskError } from './errors.ts';
import { CORE_GENERATION, toCoreTask, toPayload } from './wire.ts';

/** How many tasks a page of `tasks/list` holds. */
const PAGE_SIZE = 100;

/** The caller of a `tasks/*` request. */
export interface CoreCaller {
  readonly principal: Principal;
  readonly signal?: AbortSignal;
  /** Called with the task of a `tasks/get` or `tasks/result` request, and with each change while `tasks/result` waits. */
  onRecord(task: TaskRecord): void;
}

const isCore = ({ generation }: TaskRecord): boolean => generation === CORE_GENERATION;

/** Hides tasks of the extension from these methods. @throws {TaskError} `ERR_TASK_NOT_FOUND` */
function requireCore(task: TaskRecord): TaskRecord {
  if (isCore(task)) return task;
  throw new TaskError('ERR_TASK_NOT_FOUND', 'No such task in this protocol version');
}

type CoreMethod = (engine: TaskEngine, params: JsonObject, caller: CoreCaller) => Promise<JsonObject>;

/** The handler of each method. */
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

/** Stores reject with a RangeError for an unknown cursor. */
function refuseCursor(error: unknown): never {
  if (!(error instanceof RangeError)) throw error;
  throw new ProtocolError(INVALID_PARAMS, 'Unknown cursor: list the tasks again without a cursor');
}
