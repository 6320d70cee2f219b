/**
 * The other direction of the core's first generation: a legacy server asks the client (a form for the user, a question to the
 * model) as a task, and comes back for the answer. The tasks live in this process and belong to the one server of the connection.
 */

import { type Clock, type JsonObject, MortiseError, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject, toWireError } from '@mortise/jsonrpc-core/messages';
import type { ClientCapabilities } from '@mortise/protocol';
import type { ClientExtensionHost, TaskRecord } from '@mortise/protocol/contracts';
import { TaskEngine } from '../engine/task-engine.ts';
import { TaskLimitError, TaskNotFoundError } from '../errors.ts';
import { MemoryTaskStore } from '../memory-task-store.ts';
import { CORE_GENERATION, toCoreTask, TOO_MANY, toPayload } from '../wire.ts';

/** Who a server is to its client: there is one on the connection. */
const SERVER = 'server';
const PAGE = 50;

/** What a client declares that takes such tasks: for what the program answers at all. */
export function receiverCapabilities(declared: ClientCapabilities): Partial<ClientCapabilities> {
  const requests = {
    ...(declared.sampling && { sampling: { createMessage: {} } }),
    ...(declared.elicitation && { elicitation: { create: {} } }),
  };
  return Object.keys(requests).length === 0 ? {} : { tasks: { list: {}, cancel: {}, requests } };
}

export class TaskReceiver {
  readonly #host: ClientExtensionHost;
  readonly #engine: TaskEngine;

  constructor(host: ClientExtensionHost, clock: Clock) {
    this.#host = host;
    const onChanged = (record: TaskRecord): void => {
      // The server need not be told, and cannot be while the connection is down.
      void host.notify('notifications/tasks/status', toCoreTask(record)).catch(() => undefined);
    };
    this.#engine = new TaskEngine({
      store: new MemoryTaskStore({ now: () => clock.now() }),
      clock,
      onChanged,
      limits: { maxTtlMs: 3_600_000 },
    });
  }

  install(): void {
    const host = this.#host;
    for (const method of ['elicitation/create', 'sampling/createMessage']) {
      host.interceptAnswer(method, (params, next, signal) =>
        isJsonObject(params['task']) && host.revision.rules.coreTasks ? this.#create(params, next) : next(params, signal),
      );
    }
    host.addMethod('tasks/get', async ({ taskId }) => toCoreTask(await this.#get(taskId)));
    host.addMethod('tasks/result', async ({ taskId }) => {
      const { id } = await this.#get(taskId);
      return toPayload(await answered(this.#engine.waitFor(id, SERVER)));
    });
    host.addMethod('tasks/cancel', async ({ taskId }) => {
      const { record, isChanged } = await answered(this.#engine.cancel(taskId, SERVER));
      if (!isChanged) throw new ProtocolError(INVALID_PARAMS, `The task has ended: it is ${record.status}`);
      return toCoreTask(record);
    });
    host.addMethod('tasks/list', ({ cursor }) => this.#list(cursor));
  }

  /** Begins to answer, and gives the task at once. */
  async #create(
    { task, ...params }: JsonObject,
    next: (params: JsonObject, signal: AbortSignal) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const ttl = isJsonObject(task) && typeof task['ttl'] === 'number' ? task['ttl'] : undefined;
    const run = await answered(this.#engine.adopt({ principal: SERVER, generation: CORE_GENERATION, ttlMs: ttl }));
    const created = toCoreTask(run.record);
    next(params, run.signal)
      .then(
        (result) => this.#engine.finish(run, { status: 'completed', result }),
        (error: unknown) =>
          this.#engine.finish(run, { status: 'failed', error: toWireError(error), statusMessage: toWireError(error).message }),
      )
      .catch(() => undefined);
    return { task: created };
  }

  async #get(taskId: unknown): Promise<TaskRecord> {
    return answered(this.#engine.get(taskId, SERVER));
  }

  async #list(cursor: unknown): Promise<JsonObject> {
    if (cursor !== undefined && (typeof cursor !== 'string' || !/^\d+:/.test(cursor)))
      throw new ProtocolError(INVALID_PARAMS, 'The cursor is none of this list');
    const { tasks, nextCursor } = await this.#engine.list(SERVER, { limit: PAGE, ...(typeof cursor === 'string' && { cursor }) });
    return { tasks: tasks.map(toCoreTask), ...(nextCursor !== undefined && { nextCursor }) };
  }
}

/** Errors of the engine, as the wire has them. */
async function answered<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof TaskNotFoundError) throw new ProtocolError(INVALID_PARAMS, error.message);
    if (error instanceof TaskLimitError) throw new ProtocolError(TOO_MANY, error.message);
    throw error instanceof MortiseError ? error : new Error('the task could not be read', { cause: error });
  }
}
