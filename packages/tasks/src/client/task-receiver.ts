/**
 * Tasks in the other direction (2025-11-25 only): a server sends elicitation or sampling as a task, and fetches the answer later. These
 * tasks are kept in this process's memory.
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

/** The only caller on a connection. */
const SERVER: CoreCaller = { principal: 'server', onRecord: () => undefined };
const MAX_TTL_MS = 3_600_000;

/** The tasks capability of a client: for sampling and elicitation, as far as the client declares them. */
export function receiverCapabilities(declared: ClientCapabilities): Partial<ClientCapabilities> {
  const requests = {
    ...(declared.sampling && { sampling: { createMessage: {} } }),
    ...(declared.elicitation && { elicitation: { create: {} } }),
  };
  return Object.keys(requests).length === 0 ? {} : { tasks: { list: {}, cancel: {}, requests } };
}

/** Lets a server send its questions as tasks. */
export function receiveTasks(host: ClientExtensionHost, clock: Clock): void {
  const engine = new TaskEngine({
    store: new MemoryTaskStore({ now: () => clock.now() }),
    queue: new MemoryTaskQueue({ clock }),
    run: () => Promise.reject(new Error('Tasks of a client have no tool to run')),
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

/** Starts to answer a question, and returns the task at once. */
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
