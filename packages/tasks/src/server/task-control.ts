/** `TaskControl`: ends tasks of tools with `taskDriver: 'hand'`, from any process with access to the task store. */

import type { Clock, JsonObject, JsonRpcErrorObject } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { MessageBus, TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { announce } from '../engine/task-events.ts';
import { type ChangeTask, endAs, isEnded, type MakeChanges, taskWriter } from '../engine/task-states.ts';
import { toOutcome } from '../wire.ts';

/** Lets a program end tasks and set their status message. The methods that change a task resolve to false if it has already ended. */
export interface TaskControl {
  /** Ends a task as completed. @param result The tool result: a text, or a whole `CallToolResult`. */
  complete(taskId: string, result: JsonObject | string): Promise<boolean>;
  /** Ends a task as failed. @param error The JSON-RPC error for the client. @param error.code @default -32603 */
  fail(
    taskId: string,
    error: { readonly message: string; readonly code?: number; readonly data?: JsonRpcErrorObject['data'] },
  ): Promise<boolean>;
  /** Sets the task's status message, a text for people. */
  setStatus(taskId: string, message: string): Promise<boolean>;
  /** Ends a task as cancelled. */
  cancel(taskId: string, reason?: string): Promise<boolean>;
  /** Gets the stored record of a task of any client; undefined if there is no such task. */
  get(taskId: string): Promise<TaskRecord | undefined>;
}

/**
 * Creates a `TaskControl` for the tasks of a store, without a server. Servers that use the same store see its changes at once by the message
 * bus, and otherwise when they next read the store: within a second for callers that wait for a task, if the server has no bus.
 *
 * @param options.messageBus The message bus of the servers. @default none
 * @param options.clock @default the platform's clock
 */
export function createTaskControl(store: TaskStore, options: TaskControlOptions = {}): TaskControl {
  checkOptions('createTaskControl options', options, { clock: 'object', messageBus: { methods: ['publish'] } });
  const { messageBus, clock = systemClock } = options;
  const tell = (record: TaskRecord): void => {
    // Whoever is not told reads the store later.
    if (messageBus) void announce(record, (event) => messageBus.publish(event), undefined).catch(() => undefined);
  };
  return controlBy(taskWriter(store, clock, tell), (id) => store.get(id));
}

/** The options of `createTaskControl`. */
export interface TaskControlOptions {
  readonly messageBus?: Pick<MessageBus, 'publish'> | undefined;
  readonly clock?: Clock | undefined;
}

/** Creates a `TaskControl` from a function that changes a task and one that reads a task. */
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
