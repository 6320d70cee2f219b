/** Sends clients the status, progress, log messages and questions of 2025-11-25 tasks. */

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

/** Adds the 2025-11-25 task methods. */
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

/** The most tasks with a channel for notifications. Beyond that, the task requested longest ago loses its channel: notifications are optional. */
const MAX_CHANNELS = 20_000;

interface Channel {
  readonly tell: (notification: JsonRpcNotification) => void;
  /** The state sent last, so that no state is sent twice. */
  last: string;
}

export class CoreClients {
  readonly #answer: TaskEngine['answer'];
  /** By task id: the channel of the latest call about the task. */
  readonly #channels = new Map<string, Channel>();
  /** By task id: the waiting `tasks/result` calls. */
  readonly #waiting = new Map<unknown, Set<ExtensionCall>>();
  /** The questions that a client was asked and has not answered yet. */
  readonly #asked = new Set<string>();

  constructor(answer: TaskEngine['answer']) {
    this.#answer = answer;
  }

  /** Sends a task's notifications over the channel of this call from now on. */
  remember(task: TaskRecord, { tell }: ExtensionCall): void {
    if (!tell || isEnded(task.status)) return;
    this.#channels.delete(task.id);
    this.#channels.set(task.id, { tell, last: toState(task) });
    if (this.#channels.size <= MAX_CHANNELS) return;
    const [oldest] = this.#channels.keys();
    if (oldest !== undefined) this.#channels.delete(oldest);
  }

  /** Registers a call that waits for a task's result. The task's questions go to this call, and its stream carries progress and log messages. */
  ask(task: TaskRecord, call: ExtensionCall): void {
    const waiting = this.#waiting.get(task.id) ?? new Set();
    this.#waiting.set(task.id, waiting.add(call));
    for (const ask of task.asks) if (isOutstanding(ask)) void this.#ask(task, ask, call);
  }

  /** Removes a waiting call. */
  release(taskId: unknown, call: ExtensionCall): void {
    const waiting = this.#waiting.get(taskId);
    waiting?.delete(call);
    if (waiting?.size === 0) this.#waiting.delete(taskId);
  }

  /** Sends `notifications/tasks/status`, unless the state equals the one sent last. @see 2025-11-25 basic/utilities/tasks#task-notifications */
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

  /** Sends a progress or log message of a task's handler, with the task's id in `_meta`. */
  report({ id }: TaskRecord, notification: JsonRpcNotification): void {
    const message = { ...notification, params: withRelatedTask(notification.params ?? {}, id) };
    const [waiting] = this.#waiting.get(id) ?? [];
    if (waiting) void waiting.notify(message).catch(() => undefined);
    else this.#channels.get(id)?.tell(message);
  }

  /** Asks one client at a time. */
  async #ask(task: TaskRecord, ask: TaskAsk, call: ExtensionCall): Promise<void> {
    const name = `${task.id} ${ask.key}`;
    if (this.#asked.has(name) || call.signal.aborted) return;
    this.#asked.add(name);
    const given = await request(ask.method, withRelatedTask(ask.params, task.id), call);
    if (given) await this.#answer(task, new Map([[ask.key, given]])).catch(() => undefined);
    this.#asked.delete(name);
    if (!call.signal.aborted) return;
    // The caller left without an answer: ask another waiting call.
    const next = [...(this.#waiting.get(task.id) ?? [])].find((other) => !other.signal.aborted);
    if (next) await this.#ask(task, ask, next);
  }
}

/** Asks the client. @returns undefined if the client could not be reached; another waiting call may succeed. */
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
