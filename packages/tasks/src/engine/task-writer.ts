/** Every write of a task: by compare-and-set, along the ways that `TRANSITIONS` has, and told to whom it concerns. */

import type { Clock } from '@mortise/jsonrpc-core';
import type { TaskChanges, TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { canMove } from './transitions.ts';

/** How often a write is tried against other writers: more means that the store never takes it. */
const MAX_TRIES = 1_000;

/** Says what to change in a record as it stands; undefined to leave it. May be asked several times. */
export type MakeChanges = (record: TaskRecord) => TaskChanges | undefined;

/** What came of a write. */
export interface Written {
  readonly record: TaskRecord;
  /** False where the record was left as it is. */
  readonly isChanged: boolean;
}

export class TaskWriter {
  readonly #store: TaskStore;
  readonly #clock: Clock;
  readonly #onWritten: (record: TaskRecord) => void;

  constructor(store: TaskStore, clock: Clock, onWritten: (record: TaskRecord) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#onWritten = onWritten;
  }

  /**
   * Changes a task.
   *
   * @param known The record as it was last seen, which saves reading it.
   * @returns undefined where there is no such task.
   */
  async change(id: string, make: MakeChanges, known?: TaskRecord): Promise<Written | undefined> {
    let record = known ?? (await this.#store.get(id));
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (!record) return undefined;
      const changes = make(record);
      if (!changes) return { record, isChanged: false };
      const { status = record.status } = changes;
      if (!canMove(record.status, status)) throw new Error(`A task cannot go from ${record.status} to ${status}`);
      const written = await this.#store.update(id, record.version, { ...changes, updatedAtMs: this.#clock.now() });
      if (written) {
        this.#onWritten(written);
        return { record: written, isChanged: true };
      }
      record = await this.#store.get(id);
    }
    throw new Error(`The task store refused ${MAX_TRIES} writes of one task: does it keep promise K2?`);
  }
}
