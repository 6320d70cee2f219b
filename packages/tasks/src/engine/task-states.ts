/** The states of a task, the ways between them, and the one place that writes them: by compare-and-set. */

import type { Clock, JsonObject, JsonRpcErrorObject } from '@mortise/jsonrpc-core';
import { toWireError } from '@mortise/jsonrpc-core/messages';
import type { TaskAsk, TaskChanges, TaskRecord, TaskStatus, TaskStore } from '@mortise/protocol/contracts';

/**
 * Where a task may go from each state.
 *
 * @see 2025-11-25 basic/utilities/tasks#task-status-lifecycle
 */
export const TRANSITIONS: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  working: ['input_required', 'completed', 'failed', 'cancelled'],
  input_required: ['working', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};

/** The states of tasks that go on. */
export const OPEN: readonly TaskStatus[] = ['working', 'input_required'];

/** Whether a state is final. */
export function isEnded(status: TaskStatus): boolean {
  return TRANSITIONS[status].length === 0;
}

/** Whether a task may go from one state to another; staying is no transition and always allowed while it goes on. */
export function canMove(from: TaskStatus, to: TaskStatus): boolean {
  return TRANSITIONS[from].includes(to) || (from === to && !isEnded(from));
}

/** Whether a question waits for its answer. */
export function isOutstanding(ask: TaskAsk): boolean {
  return ask.answer === undefined && ask.error === undefined && ask.isWithdrawn !== true;
}

/** The state that the questions of an unfinished task put it into. */
export function statusOf(asks: readonly TaskAsk[]): TaskStatus {
  return asks.some(isOutstanding) ? 'input_required' : 'working';
}

/** How a task ends by itself. */
export interface TaskOutcome {
  readonly status: 'completed' | 'failed';
  readonly result?: JsonObject;
  readonly error?: JsonRpcErrorObject;
  readonly statusMessage?: string;
}

/** How an error ends a task. */
export function toFailure(thrown: unknown): TaskOutcome {
  const error = toWireError(thrown);
  return { status: 'failed', error, statusMessage: error.message };
}

/** What one answer is: a result, or the error that the other side refused with. */
export type GivenAnswer = { readonly answer: JsonObject } | { readonly error: JsonRpcErrorObject };

/** The changes that put answers to what is outstanding; undefined where there is nothing to change. */
export function withAnswers({ status, asks }: TaskRecord, answers: ReadonlyMap<string, GivenAnswer>): TaskChanges | undefined {
  if (isEnded(status) || !asks.some((ask) => isOutstanding(ask) && answers.has(ask.key))) return undefined;
  const all = asks.map((ask) => (isOutstanding(ask) ? { ...ask, ...answers.get(ask.key) } : ask));
  return { asks: all, status: statusOf(all) };
}

/** Withdraws the open questions of a task that ends. */
export function withdrawAll(asks: readonly TaskAsk[]): readonly TaskAsk[] {
  return asks.some(isOutstanding) ? asks.map((ask) => (isOutstanding(ask) ? { ...ask, isWithdrawn: true } : ask)) : asks;
}

/** How often a write is tried against other writers: more means that the store never takes it. */
const MAX_TRIES = 1_000;

/** Gives the changes to a record; undefined for none. Called again where another writer was first. */
export type MakeChanges = (record: TaskRecord) => TaskChanges | undefined;

/** What came of a write. */
export interface Written {
  readonly record: TaskRecord;
  /** False where the record was not changed. */
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
