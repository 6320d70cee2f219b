/** `TaskControl`: ends tasks that are driven by hand, from any process that has the store. */

import type { Clock, JsonObject, JsonRpcErrorObject } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import type { TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import type { TaskOutcome } from '../engine/task-states.ts';
import { isEnded, type MakeChanges, TaskWriter, type Written } from '../engine/task-states.ts';
import { toOutcome } from '../wire.ts';

/** Ends tasks, and sets their status message. Each method resolves to false where the task had ended: an ended task never changes. */
export interface TaskControl {
  /** @param result As a tool's handler would have given it: text, or a whole result. */
  complete(taskId: string, result: JsonObject | string): Promise<boolean>;
  /** @param error Sent to the client. @param error.code @default -32603 */
  fail(
    taskId: string,
    error: { readonly message: string; readonly code?: number; readonly data?: JsonRpcErrorObject['data'] },
  ): Promise<boolean>;
  setStatus(taskId: string, message: string): Promise<boolean>;
  cancel(taskId: string, reason?: string): Promise<boolean>;
  /** The record of any principal's task. */
  get(taskId: string): Promise<TaskRecord | undefined>;
}

type Change = (id: string, make: MakeChanges) => Promise<Written | undefined>;

/**
 * Makes the control of tasks over a store, without a server. A server on the same store sees what it does within a second.
 *
 * @param options.clock @default the platform's clock
 */
export function createTaskControl(store: TaskStore, options: { readonly clock?: Clock } = {}): TaskControl {
  const writer = new TaskWriter(store, options.clock ?? systemClock, () => undefined);
  return controlBy(
    (id, make) => writer.change(id, make),
    (id) => store.get(id),
  );
}

/** The control over a way to change tasks. */
export function controlBy(change: Change, get: (id: string) => Promise<TaskRecord | undefined>): TaskControl {
  const unlessEnded = async (id: string, make: MakeChanges): Promise<boolean> => {
    const written = await change(id, (record) => (isEnded(record.status) ? undefined : make(record)));
    return written?.isChanged === true;
  };
  return {
    complete: (id, result) =>
      unlessEnded(id, ({ generation }) => toChanges(toOutcome(generation, typeof result === 'string' ? toTextResult(result) : result))),
    fail: (id, { message, code = INTERNAL_ERROR, data }) =>
      unlessEnded(id, () => ({ status: 'failed', error: { code, message, ...(data !== undefined && { data }) }, statusMessage: message })),
    setStatus: (id, statusMessage) => unlessEnded(id, () => ({ statusMessage })),
    cancel: (id, reason = 'The task was cancelled by the server') =>
      unlessEnded(id, () => ({ status: 'cancelled', statusMessage: reason })),
    get,
  };
}

function toChanges({ status, result, error, statusMessage }: TaskOutcome): ReturnType<MakeChanges> {
  return { status, ...(result && { result }), ...(error && { error }), ...(statusMessage !== undefined && { statusMessage }) };
}

function toTextResult(text: string): JsonObject {
  return { content: [{ type: 'text', text }] };
}
