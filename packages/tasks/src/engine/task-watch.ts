/** Calls the watchers of a task after each change. Reads the store regularly to find changes by other processes. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import type { TaskRecord, TaskStore } from '@mortise/protocol/contracts';

/** @param record The changed task; undefined once the task is gone. @param isElsewhere Whether another process changed it. */
export type OnTask = (record: TaskRecord | undefined, isElsewhere: boolean) => void;

/** The bounds of the time between two reads of the store, in milliseconds. Within them, it is the clients' poll interval. */
const MIN_INTERVAL_MS = 50;
const MAX_INTERVAL_MS = 1000;

interface Watcher {
  readonly onTask: OnTask;
  /** The latest version that the watcher was called with. */
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

  /** Calls `onTask` after each change of a task. @param version The version that the caller knows. @returns A function that stops this. */
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

  /** Calls the watchers of a written task. */
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
