/** Progress of tasks whose generation knows no progress notifications: what its message says becomes the task's status message. */

import type { Clock, JsonObject } from '@mortise/jsonrpc-core';
import type { TaskRun } from '../engine/task-run.ts';

/** How long one message stands at least. */
const MIN_INTERVAL_MS = 250;

export class StatusFromProgress {
  readonly #clock: Clock;
  /** The newest message of runs whose last one was written just now; undefined where none waits. */
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
