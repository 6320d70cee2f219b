/** A `TaskHandleStore` in this process's memory: for tests, and for programs that start anew with nothing. */

import type { TaskHandleRecord, TaskHandleStore } from '@mortise/protocol/contracts';

/** Keeps the ids of tasks as long as the process lives. */
export class MemoryTaskHandleStore implements TaskHandleStore {
  readonly #handles = new Map<string, Map<string, TaskHandleRecord>>();

  add(handle: TaskHandleRecord): Promise<void> {
    const handles = this.#handles.get(handle.server) ?? new Map<string, TaskHandleRecord>();
    this.#handles.set(handle.server, handles.set(handle.taskId, { ...handle }));
    return Promise.resolve();
  }

  remove(server: string, taskId: string): Promise<void> {
    this.#handles.get(server)?.delete(taskId);
    return Promise.resolve();
  }

  list(server: string): Promise<readonly TaskHandleRecord[]> {
    return Promise.resolve([...(this.#handles.get(server)?.values() ?? [])]);
  }
}
