/** The requests about tasks of the core's own generation, as either side answers them. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { Principal, TaskRecord } from '@mortise/protocol/contracts';
import type { TaskEngine } from './engine/task-engine.ts';
import { TaskError } from './errors.ts';
import { CORE_GENERATION, toCoreTask, toPayload } from './wire.ts';

/** How many tasks a page of `tasks/list` holds. */
const PAGE_SIZE = 100;

/** Who asks. */
export interface CoreCaller {
  readonly principal: Principal;
  readonly signal?: AbortSignal;
  /** Called with the task that `tasks/get` or `tasks/result` is about, and with each change while the latter waits. */
  onRecord(task: TaskRecord): void;
}

const isCore = ({ generation }: TaskRecord): boolean => generation === CORE_GENERATION;

/** Tasks of the extension are not there for these methods. @throws {TaskError} `ERR_TASK_NOT_FOUND` */
function requireCore(task: TaskRecord): TaskRecord {
  if (isCore(task)) return task;
  throw new TaskError('ERR_TASK_NOT_FOUND', 'There is no such task of this generation');
}

type CoreMethod = (engine: TaskEngine, params: JsonObject, caller: CoreCaller) => Promise<JsonObject>;

/** By method: what answers it. */
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
    if (!isChanged) throw new ProtocolError(INVALID_PARAMS, `The task cannot be cancelled: it is ${record.status} already`);
    return toCoreTask(record);
  },
};

/** A store rejects with a RangeError where a cursor is not its own. */
function refuseCursor(error: unknown): never {
  if (!(error instanceof RangeError)) throw error;
  throw new ProtocolError(INVALID_PARAMS, 'The cursor is not one that this list gave: start again without a cursor');
}
