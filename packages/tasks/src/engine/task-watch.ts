/** Calls the functions that watch a task after each change. Reads the store at intervals to find changes by other processes. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import type { TaskRecord, TaskStore } from '@mortise/protocol/contracts';

/** Called after a task has changed. @param record Undefined if the task is gone. @param isElsewhere True if another process changed it. */
export type OnTask = (record: TaskRecord | undefined, isElsewhere: boolean) => void;

/** The shortest and longest time between two reads of the store, in milliseconds. Between these, the tasks' poll interval is used. */
const MIN_INTERVAL_MS = 50;
const MAX_INTERVAL_MS = 1000;

interface Watcher {
  readonly onTask: OnTask;
  /** The version of the task's record that the watcher was last called with. */
  version: number;
}

export class TaskWatch {
  readonly #store: TaskStore;
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #onError: (error: unknown) => void;
  readonly #watchers = new Map<string, Set<Watcher>>();
  #timer: ClockTimer | undefined;
  #isClosed = false;

  constructor(store: TaskStore, clock: Clock, pollIntervalMs: number, onError: (error: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#intervalMs = Math.min(Math.max(pollIntervalMs, MIN_INTERVAL_MS), MAX_INTERVAL_MS);
    this.#onError = onError;
  }

  /** Calls `onTask` with each version of a task that is newer than `version`. @returns A function that ends the watch. */
  add(id: string, version: number, onTask: OnTask): () => void {
    const watcher: Watcher = { onTask, version };
    const watchers = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, watchers.add(watcher));
    // The task may have changed since the caller read it.
    void this.#read(id);
    this.#arm();
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers.get(id) === watchers) this.#watchers.delete(id);
    };
  }

  /** Calls the watchers of a task with its new record, unless they have seen it. */
  changed(record: TaskRecord, isElsewhere: boolean): void {
    for (const watcher of [...(this.#watchers.get(record.id) ?? [])]) {
      if (record.version <= watcher.version) continue;
      watcher.version = record.version;
      watcher.onTask(record, isElsewhere);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const id of [...this.#watchers.keys()]) this.#gone(id);
    this.#watchers.clear();
  }

  #gone(id: string): void {
    for (const { onTask } of [...(this.#watchers.get(id) ?? [])]) onTask(undefined, true);
  }

  #arm(): void {
    if (this.#timer || this.#isClosed || this.#watchers.size === 0) return;
    this.#timer = this.#clock.schedule(() => void this.#look(), this.#intervalMs);
  }

  async #look(): Promise<void> {
    for (const id of [...this.#watchers.keys()]) await this.#read(id);
    this.#timer = undefined;
    this.#arm();
  }

  async #read(id: string): Promise<void> {
    try {
      const record = await this.#store.get(id);
      if (record) this.changed(record, true);
      else this.#gone(id);
    } catch (error) {
      this.#onError(error);
    }
  }
}
