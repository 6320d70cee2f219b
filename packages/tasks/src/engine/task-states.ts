/** The states of a task, the allowed transitions, and the only function that writes tasks, by compare-and-set. */

import type { Clock, JsonObject, JsonRpcErrorObject } from '@mortise/jsonrpc-core';
import { toWireError } from '@mortise/jsonrpc-core/messages';
import type { TaskAsk, TaskChanges, TaskRecord, TaskStatus, TaskStore } from '@mortise/protocol/contracts';

/**
 * The allowed transitions from each task status to others.
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

/** Whether a task status is final: `completed`, `failed` or `cancelled`. */
export function isEnded(status: TaskStatus): boolean {
  return TRANSITIONS[status].length === 0;
}

/** Whether an input request of a task still waits for its answer. */
export function isOutstanding(ask: TaskAsk): boolean {
  return ask.answer === undefined && ask.error === undefined && ask.isWithdrawn !== true;
}

/** The status of an unfinished task: `input_required` if one of its input requests waits for an answer, otherwise `working`. */
export function statusOf(asks: readonly TaskAsk[]): TaskStatus {
  return asks.some(isOutstanding) ? 'input_required' : 'working';
}

/** How a task ends: its final status, with the result or the error. */
export interface TaskOutcome {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly result?: JsonObject;
  readonly error?: JsonRpcErrorObject;
  readonly statusMessage?: string;
}

/** Makes the outcome `failed` of a task whose handler threw this error. */
export function toFailure(thrown: unknown): TaskOutcome {
  const error = toWireError(thrown);
  return { status: 'failed', error, statusMessage: error.message };
}

/** Makes the change that ends an unfinished task. Also withdraws its open input requests, and deletes its stored tool arguments. */
export function endAs(outcome: TaskOutcome): MakeChanges {
  return ({ status, asks }) => (isEnded(status) ? undefined : { ...outcome, asks: withdrawAll(asks), remove: ['call'] });
}

function withdrawAll(asks: readonly TaskAsk[]): readonly TaskAsk[] {
  return asks.map((ask) => (isOutstanding(ask) ? { ...ask, isWithdrawn: true } : ask));
}

/** A client's answer to an input request of a task: a result, or the error that the client responded with. */
export type GivenAnswer = { readonly answer: JsonObject } | { readonly error: JsonRpcErrorObject };

/** Makes the change that adds answers to a task's input requests. Ignores answers to unknown, answered or withdrawn requests. */
export function giveAnswers(answers: ReadonlyMap<string, GivenAnswer>): MakeChanges {
  return ({ status, asks }) => {
    if (isEnded(status) || !asks.some((ask) => isOutstanding(ask) && answers.has(ask.key))) return undefined;
    const all = asks.map((ask) => (isOutstanding(ask) ? { ...ask, ...answers.get(ask.key) } : ask));
    return { asks: all, status: statusOf(all) };
  };
}

/** The most attempts to change a task that other writers change too. A store that refuses more attempts is faulty. */
const MAX_TRIES = 1_000;

/** Computes the changes to a task's record; undefined for none. Called again with the newer record if another writer was faster. */
export type MakeChanges = (record: TaskRecord) => TaskChanges | undefined;

/** The result of an attempt to change a task. */
export interface Written {
  readonly record: TaskRecord;
  /** Whether this call changed the task's record. */
  readonly isChanged: boolean;
}

/**
 * Changes the record of a task in the store.
 *
 * @param known The latest known record of the task, which saves a read of the store.
 * @returns undefined if there is no such task.
 */
export type ChangeTask = (id: string, make: MakeChanges, known?: TaskRecord) => Promise<Written | undefined>;

/** Makes the function that changes the tasks of a store. @param onWritten Called with a task's record once its change is stored. */
export function taskWriter(store: TaskStore, clock: Clock, onWritten: (record: TaskRecord) => void): ChangeTask {
  return async (id, make, known) => {
    let record = known ?? (await store.get(id));
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (!record) return undefined;
      const changes = make(record);
      if (!changes) return { record, isChanged: false };
      const { status = record.status } = changes;
      if (status !== record.status && !TRANSITIONS[record.status].includes(status))
        throw new Error(`A task cannot change its status from ${record.status} to ${status}`);
      const written = await store.update(id, record.version, { ...changes, updatedAtMs: clock.now() });
      if (written) {
        onWritten(written);
        return { record: written, isChanged: true };
      }
      record = await store.get(id);
    }
    throw new Error(`The task store refused ${MAX_TRIES} writes of one task: check its guarantee K2 (compare-and-set)`);
  };
}
