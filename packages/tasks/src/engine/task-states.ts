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

/** Whether a question waits for its answer. */
export function isOutstanding(ask: TaskAsk): boolean {
  return ask.answer === undefined && ask.error === undefined && ask.isWithdrawn !== true;
}

/** The state that the questions of an unfinished task put it into. */
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

/** How an error ends a task. */
export function toFailure(thrown: unknown): TaskOutcome {
  const error = toWireError(thrown);
  return { status: 'failed', error, statusMessage: error.message };
}

/** Ends a task, unless it has ended: the first end stays. Its open questions are withdrawn, and its arguments are not needed any more. */
export function endAs(outcome: TaskOutcome): MakeChanges {
  return ({ status, asks }) => (isEnded(status) ? undefined : { ...outcome, asks: withdrawAll(asks), call: undefined });
}

function withdrawAll(asks: readonly TaskAsk[]): readonly TaskAsk[] {
  return asks.map((ask) => (isOutstanding(ask) ? { ...ask, isWithdrawn: true } : ask));
}

/** What one answer is: a result, or the error that the other side refused with. */
export type GivenAnswer = { readonly answer: JsonObject } | { readonly error: JsonRpcErrorObject };

/** Gives answers to questions. Those to what is not outstanding are passed over. */
export function giveAnswers(answers: ReadonlyMap<string, GivenAnswer>): MakeChanges {
  return ({ status, asks }) => {
    if (isEnded(status) || !asks.some((ask) => isOutstanding(ask) && answers.has(ask.key))) return undefined;
    const all = asks.map((ask) => (isOutstanding(ask) ? { ...ask, ...answers.get(ask.key) } : ask));
    return { asks: all, status: statusOf(all) };
  };
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

/**
 * Changes a task.
 *
 * @param known The record as it was last seen, which saves reading it.
 * @returns undefined where there is no such task.
 */
export type ChangeTask = (id: string, make: MakeChanges, known?: TaskRecord) => Promise<Written | undefined>;

/** Makes the function that changes the tasks of a store. @param onWritten Called after each change that the store has. */
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
    throw new Error(`The task store refused ${MAX_TRIES} writes of one task: does it keep promise K2?`);
  };
}
