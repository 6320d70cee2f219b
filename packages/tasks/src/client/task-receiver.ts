/**
 * The other direction of the core's first generation: a legacy server asks the client (a form for the user, a question to the
 * model) as a task, and comes back for the answer. The tasks live in this process and belong to the one server of the connection.
 */

import type { Clock, JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { silentLogger } from '@mortise/jsonrpc-core/transport';
import type { ClientCapabilities } from '@mortise/protocol';
import type { ClientExtensionHost } from '@mortise/protocol/contracts';
import { CORE_METHODS, type CoreCaller } from '../core-methods.ts';
import { TaskEngine } from '../engine/task-engine.ts';
import type { TaskOutcome } from '../engine/task-states.ts';
import { MemoryTaskQueue } from '../memory-task-queue.ts';
import { MemoryTaskStore } from '../memory-task-store.ts';
import { CORE_GENERATION, toCoreTask, withWireErrors } from '../wire.ts';

/** The one caller on the connection. */
const SERVER: CoreCaller = { principal: 'server', onRecord: () => undefined };
const MAX_TTL_MS = 3_600_000;

/** What a client declares that takes such tasks: for what the program answers at all. */
export function receiverCapabilities(declared: ClientCapabilities): Partial<ClientCapabilities> {
  const requests = {
    ...(declared.sampling && { sampling: { createMessage: {} } }),
    ...(declared.elicitation && { elicitation: { create: {} } }),
  };
  return Object.keys(requests).length === 0 ? {} : { tasks: { list: {}, cancel: {}, requests } };
}

/** Lets a server put its questions as tasks. */
export function receiveTasks(host: ClientExtensionHost, clock: Clock): void {
  const engine = new TaskEngine({
    store: new MemoryTaskStore({ now: () => clock.now() }),
    queue: new MemoryTaskQueue({ clock }),
    run: () => Promise.reject(new Error('What is asked runs as it arrives')),
    // These notifications are optional, and cannot be sent while the connection is down.
    onChanged: (record) => void host.notify('notifications/tasks/status', toCoreTask(record)).catch(() => undefined),
    onReport: () => undefined,
    limits: { maxTtlMs: MAX_TTL_MS },
    leaseMs: MAX_TTL_MS,
    logger: silentLogger,
    meter: undefined,
    clock,
  });
  for (const method of ['elicitation/create', 'sampling/createMessage']) {
    host.interceptAnswer(method, (params, next, signal) =>
      isJsonObject(params['task']) && host.revision.rules.coreTasks
        ? withWireErrors(() => answerAsTask(engine, params, next))
        : next(params, signal),
    );
  }
  for (const [method, answer] of Object.entries(CORE_METHODS))
    host.addMethod(method, (params) => withWireErrors(() => answer(engine, params, SERVER)));
}

/** Begins to answer, and gives the task at once. */
async function answerAsTask(
  engine: TaskEngine,
  { task, ...params }: JsonObject,
  next: (params: JsonObject, signal: AbortSignal) => Promise<JsonObject>,
): Promise<JsonObject> {
  const ttl = isJsonObject(task) && typeof task['ttl'] === 'number' ? { ttlMs: task['ttl'] } : {};
  const run = await engine.adopt({ principal: SERVER.principal, generation: CORE_GENERATION, ...ttl });
  const created = toCoreTask(run.record);
  void engine.finish(
    run,
    next(params, run.signal).then((result): TaskOutcome => ({ status: 'completed', result })),
  );
  return { task: created };
}
