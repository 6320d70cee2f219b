/** Sends 2025-11-25 clients the status, progress, log messages and input requests (such as elicitation) of their tasks. */

import { isMortiseError, type JsonObject, type JsonRpcNotification, ProtocolError, RemoteError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import type { ExtensionCall, ExtensionHost, TaskAsk, TaskRecord } from '@mortise/protocol/contracts';
import { CORE_METHODS } from '../core-methods.ts';
import type { TaskEngine } from '../engine/task-engine.ts';
import { type GivenAnswer, isEnded, isOutstanding } from '../engine/task-states.ts';
import { toCoreTask, withRelatedTask, withWireErrors } from '../wire.ts';

/** The principal of every caller without a verified identity. */
const ANONYMOUS = 'anonymous';

/** Whether a caller may list its tasks. Unverified callers may not: they share one principal, so they would see each other's tasks. */
export function mayList(principal: string): boolean {
  return principal !== ANONYMOUS;
}

/** Adds the 2025-11-25 methods `tasks/get`, `tasks/result`, `tasks/list` and `tasks/cancel` to a server. */
export function addCoreMethods(host: ExtensionHost, engine: TaskEngine, clients: CoreClients): void {
  for (const [method, answer] of Object.entries(CORE_METHODS))
    host.addMethod(method, { eras: ['legacy'] }, async (params, call) => {
      const { principal, revision, signal } = call;
      if (!revision.rules.coreTasks || (method === 'tasks/list' && !mayList(principal)))
        throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: ${method}`);
      const isResult = method === 'tasks/result';
      const onRecord = (task: TaskRecord): void => (isResult ? clients.ask(task, call) : clients.remember(task, call));
      try {
        const result = await withWireErrors(() => answer(engine, params, { principal, signal, onRecord }));
        return (isResult ? revision.toWire.results.get('tools/call')?.(result) : undefined) ?? result;
      } finally {
        if (isResult) clients.release(params['taskId'], call);
      }
    });
}

/** The most tasks whose notifications are sent. Beyond that, the task requested longest ago gets none: notifications are optional. */
const MAX_CHANNELS = 20_000;

interface Channel {
  readonly tell: (notification: JsonRpcNotification) => void;
  /** The task's status and status message that were sent last, so that the same state is not sent twice. */
  last: string;
}

export class CoreClients {
  readonly #answer: TaskEngine['answer'];
  /** By task id: where the task's notifications are sent, which is the connection of the latest request about the task. */
  readonly #channels = new Map<string, Channel>();
  /** By task id: the `tasks/result` requests that wait for the task to end. */
  readonly #waiting = new Map<unknown, Set<ExtensionCall>>();
  /** The input requests (task id and key) that were sent to a client and are not answered yet. */
  readonly #asked = new Set<string>();

  constructor(answer: TaskEngine['answer']) {
    this.#answer = answer;
  }

  /** Sends a task's notifications over the connection of this request from now on. */
  remember(task: TaskRecord, { tell }: ExtensionCall): void {
    if (!tell || isEnded(task.status)) return;
    this.#channels.delete(task.id);
    this.#channels.set(task.id, { tell, last: toState(task) });
    if (this.#channels.size <= MAX_CHANNELS) return;
    const [oldest] = this.#channels.keys();
    if (oldest !== undefined) this.#channels.delete(oldest);
  }

  /** Registers a `tasks/result` request that waits for a task. The task's input requests, progress and log messages use its stream. */
  ask(task: TaskRecord, call: ExtensionCall): void {
    const waiting = this.#waiting.get(task.id) ?? new Set();
    this.#waiting.set(task.id, waiting.add(call));
    for (const ask of task.asks) if (isOutstanding(ask)) void this.#ask(task, ask, call);
  }

  /** Removes a `tasks/result` request that no longer waits for a task. */
  release(taskId: unknown, call: ExtensionCall): void {
    const waiting = this.#waiting.get(taskId);
    waiting?.delete(call);
    if (waiting?.size === 0) this.#waiting.delete(taskId);
  }

  /** Sends a task's state as a notification, unless it was already sent. @see 2025-11-25 basic/utilities/tasks#task-notifications */
  sendStatus(task: TaskRecord): void {
    const channel = this.#channels.get(task.id);
    if (!channel) return;
    const state = toState(task);
    if (state !== channel.last) {
      channel.last = state;
      channel.tell({ jsonrpc: '2.0', method: 'notifications/tasks/status', params: toCoreTask(task) });
    }
    if (isEnded(task.status)) this.#channels.delete(task.id);
  }

  /** Sends a progress or log notification of a task's handler to the client, with the task's id in `_meta`. */
  report({ id }: TaskRecord, notification: JsonRpcNotification): void {
    const message = { ...notification, params: withRelatedTask(notification.params ?? {}, id) };
    const [waiting] = this.#waiting.get(id) ?? [];
    if (waiting) void waiting.notify(message).catch(() => undefined);
    else this.#channels.get(id)?.tell(message);
  }

  /** Sends a task's input request to one waiting caller, and to the next one if that caller leaves without an answer. */
  async #ask(task: TaskRecord, ask: TaskAsk, call: ExtensionCall): Promise<void> {
    const name = `${task.id} ${ask.key}`;
    if (this.#asked.has(name) || call.signal.aborted) return;
    this.#asked.add(name);
    const given = await request(ask.method, withRelatedTask(ask.params, task.id), call);
    if (given) await this.#answer(task, new Map([[ask.key, given]])).catch(() => undefined);
    this.#asked.delete(name);
    if (!call.signal.aborted) return;
    // The caller left without an answer: send the input request to another waiting caller.
    const next = [...(this.#waiting.get(task.id) ?? [])].find((other) => !other.signal.aborted);
    if (next) await this.#ask(task, ask, next);
  }
}

/** Sends a request to the client. @returns The answer; undefined if the client could not be reached; then another caller may be tried. */
async function request(method: string, params: JsonObject, call: ExtensionCall): Promise<GivenAnswer | undefined> {
  try {
    return { answer: await call.request({ method, params, timeoutMs: Infinity }) };
  } catch (error) {
    // Asking again would give the same invalid answer, and the task would wait forever.
    if (isMortiseError(error) && error.code === 'ERR_INVALID_ANSWER') return { error: { code: INTERNAL_ERROR, message: error.message } };
    if (!(error instanceof RemoteError)) return undefined;
    const { rpcCode, message, data } = error;
    return { error: { code: rpcCode, message, ...(data !== undefined && { data }) } };
  }
}

function toState({ status, statusMessage }: TaskRecord): string {
  return `${status} ${statusMessage ?? ''}`;
}
