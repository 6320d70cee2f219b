/** The way back to those who began or asked for tasks of the core's generation: their channel, or the stream of a call that waits. */

import type { JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import type { ExtensionCall, TaskRecord } from '@mortise/protocol/contracts';
import { isEnded } from '../engine/transitions.ts';
import { toCoreTask, withRelatedTask } from '../wire/legacy.ts';

/** How many tasks have a way back; the one that was used longest ago loses it first. It is never promised. */
const MAX_ROUTES = 20_000;

interface Route {
  readonly tell: (notification: JsonRpcNotification) => void;
  /** What was told last, so that nothing is told twice. */
  last: string;
}

export class Routes {
  readonly #routes = new Map<string, Route>();
  /** The calls of `tasks/result` that wait, by task. */
  readonly #waiting = new Map<string, Set<ExtensionCall>>();

  /** Takes the channel of a call as the way back for a task. */
  remember(record: TaskRecord, { tell }: ExtensionCall): void {
    if (!tell || isEnded(record.status)) return;
    this.#routes.delete(record.id);
    this.#routes.set(record.id, { tell, last: toState(record) });
    if (this.#routes.size <= MAX_ROUTES) return;
    const [oldest] = this.#routes.keys();
    if (oldest !== undefined) this.#routes.delete(oldest);
  }

  /** A call waits for a task's result, and its stream carries what belongs to the task. @returns A function that ends it. */
  wait(taskId: string, call: ExtensionCall): () => void {
    const waiting = this.#waiting.get(taskId) ?? new Set();
    this.#waiting.set(taskId, waiting);
    waiting.add(call);
    return () => {
      waiting.delete(call);
      if (waiting.size === 0 && this.#waiting.get(taskId) === waiting) this.#waiting.delete(taskId);
    };
  }

  /** The calls that wait for a task's result. */
  waitingFor(taskId: string): readonly ExtensionCall[] {
    return [...(this.#waiting.get(taskId) ?? [])];
  }

  /** Tells that a task changed. @see 2025-11-25 basic/utilities/tasks#task-notifications */
  tellStatus(record: TaskRecord): void {
    const route = this.#routes.get(record.id);
    if (!route) return;
    const state = toState(record);
    if (state !== route.last) {
      route.last = state;
      route.tell({ jsonrpc: '2.0', method: 'notifications/tasks/status', params: toCoreTask(record) });
    }
    if (isEnded(record.status)) this.#routes.delete(record.id);
  }

  /** Sends what a task's handler reports, with the task that it belongs to. */
  report(record: TaskRecord, notification: JsonRpcNotification): void {
    const params: JsonObject = withRelatedTask(notification.params ?? {}, record.id);
    const message = { ...notification, params };
    const [waiting] = this.#waiting.get(record.id) ?? [];
    if (waiting) void waiting.notify(message).catch(() => undefined);
    else this.#routes.get(record.id)?.tell(message);
  }
}

function toState({ status, statusMessage }: TaskRecord): string {
  return `${status} ${statusMessage ?? ''}`;
}
