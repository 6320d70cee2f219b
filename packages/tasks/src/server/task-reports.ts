/** What a task reports while it runs: status, progress and log messages, on their way to the client. */

import type { Clock, JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import type { ExtensionCall, TaskRecord } from '@mortise/protocol/contracts';
import type { TaskRun } from '../engine/task-run.ts';
import { isEnded } from '../engine/task-states.ts';
import { toCoreTask, withRelatedTask } from '../wire.ts';

/** How many tasks have a way back; the one that was used longest ago loses it first. It is never promised. */
const MAX_ROUTES = 20_000;

interface Route {
  readonly tell: (notification: JsonRpcNotification) => void;
  /** The state that was sent last, so that none is sent twice. */
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

  /** Sends the state of a task that changed, if it is news. @see 2025-11-25 basic/utilities/tasks#task-notifications */
  sendStatus(record: TaskRecord): void {
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

/** How long one message stands at least. */
const MIN_INTERVAL_MS = 250;

export class StatusFromProgress {
  readonly #clock: Clock;
  /** The newest message of runs whose last one was written just now; undefined where no newer one waits. */
  readonly #waiting = new Map<TaskRun, string | undefined>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  report(run: TaskRun, params: JsonObject): void {
    const text = toText(params);
    if (text === undefined) return;
    const isBusy = this.#waiting.has(run);
    this.#waiting.set(run, isBusy ? text : undefined);
    if (!isBusy) void this.#write(run, text);
  }

  async #write(run: TaskRun, text: string): Promise<void> {
    await run.setStatus(text).catch(() => undefined);
    this.#clock.schedule(() => {
      const next = this.#waiting.get(run);
      if (next === undefined || run.isOver) {
        this.#waiting.delete(run);
        return;
      }
      this.#waiting.set(run, undefined);
      void this.#write(run, next);
    }, MIN_INTERVAL_MS);
  }
}

/** Without a message there is nothing that people could read. */
function toText({ message, progress, total }: JsonObject): string | undefined {
  if (typeof message !== 'string') return undefined;
  return typeof total === 'number' ? `${message} (${String(progress)} of ${total})` : message;
}
