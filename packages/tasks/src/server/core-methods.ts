/** `tasks/get`, `tasks/result`, `tasks/list` and `tasks/cancel` of the core's own generation. */

import { isMortiseError, type JsonObject, ProtocolError, RemoteError } from '@mortise/jsonrpc-core';
import { fromBase64Url, toBase64Url } from '@mortise/jsonrpc-core/encoding';
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import type { ExtensionCall, ExtensionHost, TaskAsk, TaskRecord } from '@mortise/protocol/contracts';
import type { TaskEngine } from '../engine/task-engine.ts';
import { type GivenAnswer, isOutstanding } from '../engine/task-states.ts';
import { CORE_GENERATION, refuseCursor, toCoreTask, toPayload, withRelatedTask, withWireErrors } from '../wire.ts';
import type { Routes } from './task-reports.ts';

/** The principal of every caller that nobody verified. */
const ANONYMOUS = 'anonymous';

/** Whether a caller may list its tasks: only where it is verified, since all unverified callers are one principal. */
export function mayList(principal: string): boolean {
  return principal !== ANONYMOUS;
}

/** What these methods work on. */
export interface CoreMethodsInit {
  readonly engine: TaskEngine;
  readonly routes: Routes;
  readonly pageSize: number;
}

/** Adds the methods. */
export function addCoreMethods(host: ExtensionHost, init: CoreMethodsInit): void {
  const { engine, routes, pageSize } = init;
  const asker = new Asker(engine, routes);
  const add = (method: string, fn: (params: JsonObject, call: ExtensionCall) => Promise<JsonObject>): void =>
    host.addMethod(method, { eras: ['legacy'] }, (params, call) => {
      if (!call.revision.rules.coreTasks) throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: ${method}`);
      return withWireErrors(() => fn(params, call));
    });

  add('tasks/get', async ({ taskId }, call) => {
    const record = await engine.get(taskId, call.principal, { isPoll: true, generation: CORE_GENERATION });
    routes.remember(record, call);
    return toCoreTask(record);
  });

  add('tasks/result', async ({ taskId }, call) => {
    const { id } = await engine.get(taskId, call.principal, { isPoll: true, generation: CORE_GENERATION });
    const release = routes.wait(id, call);
    try {
      const record = await engine.waitFor(id, call.principal, {
        signal: call.signal,
        generation: CORE_GENERATION,
        onRecord: (now) => asker.put(now, call),
      });
      return toResult(record, call);
    } finally {
      release();
    }
  });

  add('tasks/list', async ({ cursor }, call) => {
    if (!mayList(call.principal)) throw new ProtocolError(METHOD_NOT_FOUND, 'Tasks are not listed for callers that nobody verified');
    const position = cursor === undefined ? undefined : readCursor(String(cursor));
    const options = { limit: pageSize, generation: CORE_GENERATION, ...(position !== undefined && { cursor: position }) };
    const { tasks, nextCursor } = await engine.list(call.principal, options).catch(refuseCursor);
    return { tasks: tasks.map(toCoreTask), ...(nextCursor !== undefined && { nextCursor: writeCursor(nextCursor) }) };
  });

  add('tasks/cancel', async ({ taskId }, call) => {
    const { record, isChanged } = await engine.cancel(taskId, call.principal, CORE_GENERATION);
    if (!isChanged) throw new ProtocolError(INVALID_PARAMS, `The task cannot be cancelled: it is ${record.status} already`);
    return toCoreTask(record);
  });
}

/** A cursor of `tasks/list`: the store's own, in a form that clients do not read. It guards nothing: each page holds only the caller's tasks. */
function writeCursor(position: string): string {
  return toBase64Url(new TextEncoder().encode(position));
}

/** @throws {ProtocolError} -32602: not one that `writeCursor` gave. */
function readCursor(cursor: string): string {
  const bytes = fromBase64Url(cursor);
  return bytes === undefined ? refuseCursor(new RangeError(cursor)) : new TextDecoder().decode(bytes);
}

/** The result in the form that the caller's revision has. */
function toResult(record: TaskRecord, { revision }: ExtensionCall): JsonObject {
  const payload = toPayload(record);
  return withRelatedTask(revision.toWire.results.get('tools/call')?.(payload) ?? payload, record.id);
}

/** Sends a task's questions to the client that waits for its result, each over one call at a time. */
class Asker {
  readonly #engine: TaskEngine;
  readonly #routes: Routes;
  readonly #inFlight = new Set<string>();

  constructor(engine: TaskEngine, routes: Routes) {
    this.#engine = engine;
    this.#routes = routes;
  }

  put(record: TaskRecord, call: ExtensionCall): void {
    for (const ask of record.asks) if (isOutstanding(ask)) void this.#ask(record, ask, call);
  }

  async #ask(record: TaskRecord, ask: TaskAsk, call: ExtensionCall): Promise<void> {
    const { id, principal } = record;
    const { key, method, params } = ask;
    const name = `${id} ${key}`;
    if (this.#inFlight.has(name) || call.signal.aborted) return;
    this.#inFlight.add(name);
    try {
      const given = await this.#request(method, withRelatedTask(params, id), call);
      if (given) await this.#engine.answer(id, principal, new Map([[key, given]]));
    } catch {
      // The task has ended, or the answer does not fit: the question stays, for the next one who waits.
    } finally {
      this.#inFlight.delete(name);
    }
    if (!call.signal.aborted) return;
    // The caller left before it answered: another call that waits gets the question.
    const next = this.#routes.waitingFor(id).find((other) => other !== call && !other.signal.aborted);
    if (next) await this.#ask(record, ask, next);
  }

  /** @returns undefined where the client could not be asked; another waiting call may succeed. */
  async #request(method: string, params: JsonObject, call: ExtensionCall): Promise<GivenAnswer | undefined> {
    try {
      return { answer: await call.request({ method, params, timeoutMs: Infinity }) };
    } catch (error) {
      // An invalid answer ends the question: the client would give it again, and the task would wait forever.
      if (isMortiseError(error) && error.code === 'ERR_INVALID_ANSWER') return { error: { code: INTERNAL_ERROR, message: error.message } };
      if (!(error instanceof RemoteError)) return undefined;
      const { rpcCode, message, data } = error;
      return { error: { code: rpcCode, message, ...(data !== undefined && { data }) } };
    }
  }
}
