/** The states of a task, the allowed transitions, and the only function that writes tasks, by compare-and-set. */

import type { Clock, JsonObject, JsonRpcErrorObject } from '@mortise/jsonrpc-core';
import { toWireError } from '@mortise/jsonrpc-core/messages';
import type { TaskAsk, TaskChanges, TaskRecord, TaskStatus, TaskStore } from '@mortise/protocol/contracts';

/**
 * The allowed transitions from each state.
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

/** The states of unfinished tasks. */
export const OPEN: readonly TaskStatus[] = ['working', 'input_required'];

/** Whether a state is final. */
export function isEnded(status: TaskStatus): boolean {
  return TRANSITIONS[status].length === 0;
}

/** Whether a question still waits for its answer. */
export function isOutstanding(ask: TaskAsk): boolean {
  return ask.answer === undefined && ask.error === undefined && ask.isWithdrawn !== true;
}

/** The state of an unfinished task with these questions. */
export function statusOf(asks: readonly TaskAsk[]): TaskStatus {
  return asks.some(isOutstanding) ? 'input_required' : 'working';
}

/** How a task ends. */
export interface TaskOutcome {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly result?: JsonObject;
  readonly error?: JsonRpcErrorObject;
  readonly statusMessage?: string;
}

/** The outcome of a task whose work threw. */
export function toFailure(thrown: unknown): TaskOutcome {
  const error = toWireError(thrown);
  return { status: 'failed', error, statusMessage: error.message };
}

/** Ends a task that has not ended yet. Withdraws its open questions, and drops its arguments. */
export function endAs(outcome: TaskOutcome): MakeChanges {
  return ({ status, asks }) => (isEnded(status) ? undefined : { ...outcome, asks: withdrawAll(asks), call: undefined });
}

function withdrawAll(asks: readonly TaskAsk[]): readonly TaskAsk[] {
  return asks.map((ask) => (isOutstanding(ask) ? { ...ask, isWithdrawn: true } : ask));
}

/** An answer to a question: a result, or the error that the client responded with. */
export type GivenAnswer = { readonly answer: JsonObject } | { readonly error: JsonRpcErrorObject };

/** Adds answers to a task's questions. Answers to unknown, answered or withdrawn questions are ignored. */
export function giveAnswers(answers: ReadonlyMap<string, GivenAnswer>): MakeChanges {
  return ({ status, asks }) => {
    if (isEnded(status) || !asks.some((ask) => isOutstanding(ask) && answers.has(ask.key))) return undefined;
    const all = asks.map((ask) => (isOutstanding(ask) ? { ...ask, ...answers.get(ask.key) } : ask));
    return { asks: all, status: statusOf(all) };
  };
}

/** The most attempts to write against other writers. A store that refuses more is faulty. */
const MAX_TRIES = 1_000;

/** Gives the changes to a record; undefined for none. Called again if another writer was faster. */
export type MakeChanges = (record: TaskRecord) => TaskChanges | undefined;

/** The result of a write. */
export interface Written {
  readonly record: TaskRecord;
  /** False if the record was not changed. */
  readonly isChanged: boolean;
}

/**
 * Changes a task.
 *
 * @param known The latest known record, which saves a read.
 * @returns undefined if there is no such task.
 */
export type ChangeTask = (id: string, make: MakeChanges, known?: TaskRecord) => Promise<Written | undefined>;

/** Makes the function that changes the tasks of a store. @param onWritten Called after each change, once it is stored. */
export function taskWriter(store: TaskStore, clock: Clock, onWritten: (record: TaskRecord) => void): ChangeTask {
  return async (id, make, known) => {
    let record = known ?? (await store.get(id));
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (!record) return undefined;
      const changes = make(record);
      if (!changes) return { record, isChanged: false };
      const { status = record.status } = changes;
      if (status !== record.status && !TRANSITIONS[record.status].includes(status))
        throw new Error(`A task cannot go from ${record.status} to ${status}`);
      const written = await store.update(id, record.version, { ...changes, updatedAtMs: clock.now() });
      if (written) {
        onWritten(written);
        return { record: written, isChanged: true };
      }
      record = await store.get(id);
    }
    throw new Error(`The task store refused ${MAX_TRIES} writes of one task: check that it keeps promise K2 of TaskStore`);
  };
}
