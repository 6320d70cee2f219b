/** Calls the functions that watch a task after each change, in this process or another. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { BusMessage, TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { type TaskEvents, topicOf } from './task-events.ts';

/** Called after a task has changed. @param record Undefined if the task is gone. */
export type OnTask = (record: TaskRecord | undefined) => void;

/** The shortest and longest time between two reads of the store without a message bus, in milliseconds. */
const MIN_INTERVAL_MS = 50;
const MAX_INTERVAL_MS = 1000;

export interface TaskWatchInit {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly pollIntervalMs: number;
  /** How often the store is read if the server has a message bus, in milliseconds: messages may be lost. */
  readonly fallbackMs: number;
  readonly onError: (error: unknown) => void;
}

interface Watcher {
  readonly onTask: OnTask;
  /** The version of the task's record that the watcher was last called with. */
  version: number;
}

interface Watched {
  readonly watchers: Set<Watcher>;
  unsubscribe: (() => void) | undefined;
}

export class TaskWatch {
  readonly #init: TaskWatchInit;
  readonly #watched = new Map<string, Watched>();
  #events: TaskEvents | undefined;
  #timer: ClockTimer | undefined;
  #isClosed = false;

  constructor(init: TaskWatchInit) {
    this.#init = init;
  }

  start(events: TaskEvents | undefined): void {
    this.#events = events;
  }

  /** Calls `onTask` with each version of a task that is newer than `version`. @returns A function that ends the watch. */
  add(id: string, version: number, onTask: OnTask): () => void {
    const watcher: Watcher = { onTask, version };
    const known = this.#watched.get(id);
    const watched = known ?? { watchers: new Set(), unsubscribe: undefined };
    watched.watchers.add(watcher);
    this.#watched.set(id, watched);
    // The task may have changed since the caller read it.
    void (known ? this.#read(id) : this.#begin(id, watched));
    this.#arm();
    return () => {
      watched.watchers.delete(watcher);
      if (watched.watchers.size === 0 && this.#watched.get(id) === watched) this.#end(id, watched);
    };
  }

  /** Calls the watchers of a task with its new record, unless they have seen it. */
  changed(record: TaskRecord): void {
    for (const watcher of [...(this.#watched.get(record.id)?.watchers ?? [])]) {
      if (record.version <= watcher.version) continue;
      watcher.version = record.version;
      watcher.onTask(record);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const [id, watched] of [...this.#watched]) {
      this.#gone(id);
      this.#end(id, watched);
    }
  }

  /** Subscribes to the task's changes, and then reads the task. */
  async #begin(id: string, watched: Watched): Promise<void> {
    try {
      const unsubscribe = await this.#events?.subscribe(
        topicOf(id),
        (event) => this.#onEvent(id, event),
        () => void this.#read(id),
      );
      if (this.#watched.get(id) !== watched) return unsubscribe?.();
      watched.unsubscribe = unsubscribe;
    } catch (error) {
      // The reads at intervals find later changes.
      this.#init.onError(error);
    }
    await this.#read(id);
  }

  #end(id: string, watched: Watched): void {
    this.#watched.delete(id);
    watched.unsubscribe?.();
  }

  #onEvent(id: string, { payload }: BusMessage): void {
    const version = isJsonObject(payload) ? Number(payload['version']) : 0;
    const isKnown = [...(this.#watched.get(id)?.watchers ?? [])].every((watcher) => watcher.version >= version);
    if (!isKnown) void this.#read(id);
  }

  #gone(id: string): void {
    for (const { onTask } of [...(this.#watched.get(id)?.watchers ?? [])]) onTask(undefined);
  }

  #arm(): void {
    if (this.#timer || this.#isClosed || this.#watched.size === 0) return;
    const { clock, pollIntervalMs, fallbackMs } = this.#init;
    const intervalMs = this.#events?.hasMessageBus ? fallbackMs : Math.min(Math.max(pollIntervalMs, MIN_INTERVAL_MS), MAX_INTERVAL_MS);
    this.#timer = clock.schedule(() => void this.#look(), intervalMs);
  }

  async #look(): Promise<void> {
    for (const id of [...this.#watched.keys()]) await this.#read(id);
    this.#timer = undefined;
    this.#arm();
  }

  async #read(id: string): Promise<void> {
    try {
      const record = await this.#init.store.get(id);
      if (record) this.changed(record);
      else this.#gone(id);
    } catch (error) {
      this.#init.onError(error);
    }
  }
}
