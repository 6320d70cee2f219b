/** `TaskControl`: ends tasks of `taskDriver: 'hand'`, from any process with access to the store. */

import type { Clock, JsonObject, JsonRpcErrorObject } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { type ChangeTask, endAs, isEnded, type MakeChanges, taskWriter } from '../engine/task-states.ts';
import { toOutcome } from '../wire.ts';

/** Ends tasks and sets their status message. Each method resolves to false, and changes nothing, if the task has already ended. */
export interface TaskControl {
  /** @param result The tool result: a text, or a whole `CallToolResult`. */
  complete(taskId: string, result: JsonObject | string): Promise<boolean>;
  /** @param error Sent to the client. @param error.code @default -32603 */
  fail(
    taskId: string,
    error: { readonly message: string; readonly code?: number; readonly data?: JsonRpcErrorObject['data'] },
  ): Promise<boolean>;
  setStatus(taskId: string, message: string): Promise<boolean>;
  cancel(taskId: string, reason?: string): Promise<boolean>;
  /** Gets the record of a task, whoever owns it. */
  get(taskId: string): Promise<TaskRecord | undefined>;
}

/**
 * Creates a `TaskControl` over a store, without a server. Servers on the same store see its changes within a second.
 *
 * @param options.clock @default the platform's clock
 */
export function createTaskControl(store: TaskStore, options: { readonly clock?: Clock } = {}): TaskControl {
  checkOptions('createTaskControl options', options, { clock: 'object' });
  return controlBy(
    taskWriter(store, options.clock ?? systemClock, () => undefined),
    (id) => store.get(id),
  );
}

/** Creates a `TaskControl` from functions that change and read tasks. */
export function controlBy(change: ChangeTask, get: TaskControl['get']): TaskControl {
  const isChanged = async (id: string, make: MakeChanges): Promise<boolean> => (await change(id, make))?.isChanged === true;
  return {
    complete(id, given) {
      const result = typeof given === 'string' ? { content: [{ type: 'text', text: given }] } : given;
      return isChanged(id, (record) => endAs(toOutcome(record.generation, result))(record));
    },
    fail(id, { message, code = INTERNAL_ERROR, data }) {
      const error = { code, message, ...(data !== undefined && { data }) };
      return isChanged(id, endAs({ status: 'failed', error, statusMessage: message }));
    },
    setStatus: (id, statusMessage) => isChanged(id, ({ status }) => (isEnded(status) ? undefined : { statusMessage })),
    cancel: (id, statusMessage = 'The task was cancelled by the server') => isChanged(id, endAs({ status: 'cancelled', statusMessage })),
    get,
  };
}
