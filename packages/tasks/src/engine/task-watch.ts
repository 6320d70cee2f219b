/** Calls those who wait for a task after each change. What other processes change is found by reading the store now and then. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import type { TaskRecord, TaskStore } from '@mortise/protocol/contracts';

/** @param record The task as it is now; undefined once it is gone. @param isElsewhere Whether another process changed it. */
export type OnTask = (record: TaskRecord | undefined, isElsewhere: boolean) => void;

/** How often the store is read: as often as clients poll, within these bounds, in milliseconds. */
const MIN_INTERVAL_MS = 50;
const MAX_INTERVAL_MS = 1000;

interface Watched {
  readonly listeners: Set<OnTask>;
  version: number;
}

export class TaskWatch {
  readonly #store: TaskStore;
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #onError: (error: unknown) => void;
  readonly #watched = new Map<string, Watched>();
  #timer: ClockTimer | undefined;
  #isClosed = false;

  constructor(store: TaskStore, clock: Clock, pollIntervalMs: number | undefined, onError: (error: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#intervalMs = Math.min(Math.max(pollIntervalMs ?? MAX_INTERVAL_MS, MIN_INTERVAL_MS), MAX_INTERVAL_MS);
    this.#onError = onError;
  }

  /** Calls `fn` after each change of a task. @param seen The version that the caller knows. @returns A function that ends it. */
  add(id: string, seen: number, fn: OnTask): () => void {
    const watched = this.#watched.get(id) ?? { listeners: new Set(), version: seen };
    this.#watched.set(id, watched);
    watched.listeners.add(fn);
    this.#arm();
    return () => {
      if (watched.listeners.delete(fn) && watched.listeners.size === 0 && this.#watched.get(id) === watched) this.#watched.delete(id);
    };
  }

  /** A task was written. */
  changed(record: TaskRecord, isElsewhere: boolean): void {
    const watched = this.#watched.get(record.id);
    if (!watched || record.version <= watched.version) return;
    watched.version = record.version;
    for (const listener of [...watched.listeners]) listener(record, isElsewhere);
  }

  /** A task is gone. */
  gone(id: string): void {
    for (const listener of [...(this.#watched.get(id)?.listeners ?? [])]) listener(undefined, true);
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const id of [...this.#watched.keys()]) this.gone(id);
    this.#watched.clear();
  }

  #arm(): void {
    if (this.#timer || this.#isClosed || this.#watched.size === 0) return;
    this.#timer = this.#clock.schedule(() => void this.#look(), this.#intervalMs);
  }

  async #look(): Promise<void> {
    for (const id of [...this.#watched.keys()]) {
      try {
        const record = await this.#store.get(id);
        if (record) this.changed(record, true);
        else this.gone(id);
      } catch (error) {
        this.#onError(error);
      }
    }
    this.#timer = undefined;
    this.#arm();
  }
}
