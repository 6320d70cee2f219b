/**
 * The other direction of the core's first generation: a legacy server asks the client (a form for the user, a question to the
 * model) as a task, and comes back for the answer. The tasks live in this process and belong to the one server of the connection.
 */

import { type Clock, type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ClientCapabilities } from '@mortise/protocol';
import type { ClientExtensionHost, TaskRecord } from '@mortise/protocol/contracts';
import { TaskEngine } from '../engine/task-engine.ts';
import { type TaskOutcome, toFailure } from '../engine/task-states.ts';
import { MemoryTaskStore } from '../memory-task-store.ts';
import { CORE_GENERATION, refuseCursor, toCoreTask, toPayload, withWireErrors } from '../wire.ts';

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
      // These notifications are optional, and cannot be sent while the connection is down.
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
    const engine = this.#engine;
    for (const method of ['elicitation/create', 'sampling/createMessage']) {
      host.interceptAnswer(method, (params, next, signal) =>
        isJsonObject(params['task']) && host.revision.rules.coreTasks
          ? withWireErrors(() => this.#create(params, next))
          : next(params, signal),
      );
    }
    const add = (method: string, fn: (params: JsonObject) => Promise<JsonObject>): void =>
      host.addMethod(method, (params) => withWireErrors(() => fn(params)));
    add('tasks/get', async ({ taskId }) => toCoreTask(await engine.get(taskId, SERVER)));
    add('tasks/result', async ({ taskId }) => {
      const { id } = await engine.get(taskId, SERVER);
      return toPayload(await engine.waitFor(id, SERVER));
    });
    add('tasks/cancel', async ({ taskId }) => {
      const { record, isChanged } = await engine.cancel(taskId, SERVER);
      if (!isChanged) throw new ProtocolError(INVALID_PARAMS, `The task cannot be cancelled: it is ${record.status} already`);
      return toCoreTask(record);
    });
    add('tasks/list', async ({ cursor }) => {
      const options = { limit: PAGE, ...(cursor !== undefined && { cursor: String(cursor) }) };
      const { tasks, nextCursor } = await engine.list(SERVER, options).catch(refuseCursor);
      return { tasks: tasks.map(toCoreTask), ...(nextCursor !== undefined && { nextCursor }) };
    });
  }

  /** Begins to answer, and gives the task at once. */
  async #create(
    { task, ...params }: JsonObject,
    next: (params: JsonObject, signal: AbortSignal) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const ttl = isJsonObject(task) && typeof task['ttl'] === 'number' ? task['ttl'] : undefined;
    const run = await this.#engine.adopt({ principal: SERVER, generation: CORE_GENERATION, ttlMs: ttl });
    const created = toCoreTask(run.record);
    next(params, run.signal)
      .then((result): TaskOutcome => ({ status: 'completed', result }), toFailure)
      .then((outcome) => this.#engine.finish(run, outcome))
      .catch(() => undefined);
    return { task: created };
  }
}
