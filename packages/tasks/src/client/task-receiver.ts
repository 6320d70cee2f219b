/**
 * Tasks of a client (2025-11-25 only): the server sends an elicitation or sampling request as a task, and fetches the answer later. The
 * client keeps these tasks in the memory of its process.
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

/** The caller of every `tasks/*` request that a client receives: the server on the same connection. */
const SERVER: CoreCaller = { principal: 'server', onRecord: () => undefined };
const MAX_TTL_MS = 3_600_000;

/** Makes the `tasks` capability of a client: sampling and elicitation may be tasks, if the client declares these two. */
export function receiverCapabilities(declared: ClientCapabilities): Partial<ClientCapabilities> {
  const requests = {
    ...(declared.sampling && { sampling: { createMessage: {} } }),
    ...(declared.elicitation && { elicitation: { create: {} } }),
  };
  return Object.keys(requests).length === 0 ? {} : { tasks: { list: {}, cancel: {}, requests } };
}

/** Lets the server send its elicitation and sampling requests to this client as tasks. */
export function receiveTasks(host: ClientExtensionHost, clock: Clock): void {
  const engine = new TaskEngine({
    store: new MemoryTaskStore({ now: () => clock.now() }),
    queue: new MemoryTaskQueue({ clock }),
    run: () => Promise.reject(new Error('A task of a client answers a request of the server: it cannot run a tool')),
    // These notifications are optional, so failures are ignored.
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

/** Starts to answer an elicitation or sampling request, and returns the task at once, without waiting for the answer. */
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
