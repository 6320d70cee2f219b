/** How the server reaches the clients of tasks of the core's generation: with status, progress and log messages, and with questions. */

import { isMortiseError, type JsonObject, type JsonRpcNotification, ProtocolError, RemoteError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import type { ExtensionCall, ExtensionHost, TaskAsk, TaskRecord } from '@mortise/protocol/contracts';
import { CORE_METHODS } from '../core-methods.ts';
import type { TaskEngine } from '../engine/task-engine.ts';
import { type GivenAnswer, isEnded, isOutstanding } from '../engine/task-states.ts';
import { toCoreTask, withRelatedTask, withWireErrors } from '../wire.ts';

/** The principal of every caller that is not verified. */
const ANONYMOUS = 'anonymous';

/** Whether a caller may list its tasks: only where it is verified, since all unverified callers are one principal. */
export function mayList(principal: string): boolean {
  return principal !== ANONYMOUS;
}

/** Adds the core's methods. */
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

/** How many tasks have a channel; the one that was asked for longest ago loses it first. Nothing that goes over it is promised. */
const MAX_CHANNELS = 20_000;

interface Channel {
  readonly tell: (notification: JsonRpcNotification) => void;
  /** The state that was sent last, so that none is sent twice. */
  last: string;
}

export class CoreClients {
  readonly #answer: TaskEngine['answer'];
  /** By task: the channel of the call that asked for it last. */
  readonly #channels = new Map<string, Channel>();
  /** By task: the calls of `tasks/result` that wait. */
  readonly #waiting = new Map<unknown, Set<ExtensionCall>>();
  /** The questions that are with a client. */
  readonly #asked = new Set<string>();

  constructor(answer: TaskEngine['answer']) {
    this.#answer = answer;
  }

  /** From now on a task's notifications go over the channel of this call. */
  remember(task: TaskRecord, { tell }: ExtensionCall): void {
    if (!tell || isEnded(task.status)) return;
    this.#channels.delete(task.id);
    this.#channels.set(task.id, { tell, last: toState(task) });
    if (this.#channels.size <= MAX_CHANNELS) return;
    const [oldest] = this.#channels.keys();
    if (oldest !== undefined) this.#channels.delete(oldest);
  }

  /** A call waits for a task's result: it is asked what the task asks, and its stream carries what the task reports. */
  ask(task: TaskRecord, call: ExtensionCall): void {
    const waiting = this.#waiting.get(task.id) ?? new Set();
    this.#waiting.set(task.id, waiting.add(call));
    for (const ask of task.asks) if (isOutstanding(ask)) void this.#ask(task, ask, call);
  }

  /** A call waits no longer. */
  release(taskId: unknown, call: ExtensionCall): void {
    const waiting = this.#waiting.get(taskId);
    waiting?.delete(call);
    if (waiting?.size === 0) this.#waiting.delete(taskId);
  }

  /** Sends the state of a task that changed, unless it is the one that was sent last. @see 2025-11-25 basic/utilities/tasks#task-notifications */
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

  /** Sends what a task's handler reports, with the task that it belongs to. */
  report({ id }: TaskRecord, notification: JsonRpcNotification): void {
    const message = { ...notification, params: withRelatedTask(notification.params ?? {}, id) };
    const [waiting] = this.#waiting.get(id) ?? [];
    if (waiting) void waiting.notify(message).catch(() => undefined);
    else this.#channels.get(id)?.tell(message);
  }

  /** Each question is with one client at a time. */
  async #ask(task: TaskRecord, ask: TaskAsk, call: ExtensionCall): Promise<void> {
    const name = `${task.id} ${ask.key}`;
    if (this.#asked.has(name) || call.signal.aborted) return;
    this.#asked.add(name);
    const given = await request(ask.method, withRelatedTask(ask.params, task.id), call);
    if (given) await this.#answer(task, new Map([[ask.key, given]])).catch(() => undefined);
    this.#asked.delete(name);
    if (!call.signal.aborted) return;
    // The caller left before it answered: another call that waits gets the question.
    const next = [...(this.#waiting.get(task.id) ?? [])].find((other) => !other.signal.aborted);
    if (next) await this.#ask(task, ask, next);
  }
}

/** Asks the client. @returns undefined where it could not be asked; another waiting call may succeed. */
async function request(method: string, params: JsonObject, call: ExtensionCall): Promise<GivenAnswer | undefined> {
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

function toState({ status, statusMessage }: TaskRecord): string {
  return `${status} ${statusMessage ?? ''}`;
}
