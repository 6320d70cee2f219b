/** `TaskBook`: follows the tasks of one server until they end. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { toError } from '@mortise/jsonrpc-core/transport';
import type { TaskHandle, TaskState } from '@mortise/tasks/client';
import type { TaskEntry } from '../messages.ts';

/** How many tasks are kept, with results of up to 16 MiB; the oldest goes first. */
const MAX_TASKS = 30;

export class TaskBook {
  readonly #onTask: (task: TaskEntry) => void;
  readonly #entries = new Map<string, TaskEntry>();
  readonly #handles = new Map<string, TaskHandle>();
  readonly #following = new Set<Promise<void>>();
  #closing = new AbortController();

  constructor(onTask: (task: TaskEntry) => void) {
    this.#onTask = onTask;
  }

  get entries(): readonly TaskEntry[] {
    return [...this.#entries.values()];
  }

  /** Reports each state of a task, and its result. A task that is followed already is left alone. */
  follow(handle: TaskHandle, tool: string): void {
    const { id } = handle;
    if (id === undefined || this.#handles.has(id)) return;
    this.#handles.set(id, handle);
    const following = this.#follow(handle, id, tool, this.#closing.signal).finally(() => this.#following.delete(following));
    this.#following.add(following);
  }

  async #follow(handle: TaskHandle, id: string, tool: string, signal: AbortSignal): Promise<void> {
    try {
      for await (const state of handle.updates({ signal })) this.#put(toEntry(id, tool, state));
      const result = await handle.result({ signal });
      this.#add(id, { result: result as unknown as JsonObject });
    } catch (error) {
      this.#add(id, { error: toError(error).message });
    } finally {
      this.#handles.delete(id);
    }
  }

  /** @throws {Error} The task is not followed: it has ended. */
  async cancel(id: string): Promise<void> {
    const handle = this.#handles.get(id);
    if (!handle) throw new Error('The task has ended already');
    await handle.cancel();
  }

  /** Stops to follow. The tasks go on at the server. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('The connection was closed'));
    await Promise.all(this.#following);
    this.#closing = new AbortController();
  }

  #add(id: string, outcome: Pick<TaskEntry, 'result' | 'error'>): void {
    const entry = this.#entries.get(id);
    if (entry) this.#put({ ...entry, ...outcome });
  }

  #put(entry: TaskEntry): void {
    this.#entries.set(entry.id, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_TASKS && oldest !== undefined) this.#entries.delete(oldest);
    this.#onTask(entry);
  }
}

const toEntry = (id: string, tool: string, { status, statusMessage, createdAt, lastUpdatedAt }: TaskState): TaskEntry => ({
  id,
  tool,
  status,
  message: statusMessage,
  createdAt,
  lastUpdatedAt,
});
