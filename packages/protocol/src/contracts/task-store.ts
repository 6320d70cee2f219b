/**
 * Keeps tasks as records. The engine in `@mortise/tasks` alone knows what they mean; a store only keeps them.
 *
 * K1  `create` resolves when the record can be read back by any machine; an id that exists already rejects.
 * K2  `update` writes only where `version` is the stored one, all fields at once or none, and counts `version` up by one. A member
 *     that is undefined in the changes is taken out of the record.
 * K3  `lease` succeeds only where no other owner's lease lives at `nowMs`; of several callers at once exactly one succeeds. It counts
 *     `version` up, so that what an earlier owner read can no longer be written.
 * K4  `list` pages by `createdAtMs` then id, newest last, of one principal alone; the cursor stays good while records come and go.
 *     It rejects with a RangeError for a cursor that it did not give.
 * K5  Steps are written once: the second write of a key gives the first one's value.
 * K6  A record past `expiresAtMs` is not found; `deleteExpired` removes it with its steps.
 * K7  Records handed out are copies.
 * K8  `listOrphans` names only tasks whose `driver` is `engine`, that are not finished and not expired, oldest first.
 */

import type { JsonObject, JsonRpcErrorObject, JsonValue } from '@mortise/jsonrpc-core';
import type { Principal } from './auth.ts';
import type { ToolCallRecord } from './extension.ts';

/** The state of a task; the last three are final. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** A question that a task waits for. */
export interface TaskAsk {
  /** Never used for another question in the task's life. */
  readonly key: string;
  /** Of the method and the canonical params: a run that begins again gives an answer to the same question alone. */
  readonly digest: string;
  readonly method: string;
  readonly params: JsonObject;
  /** What the other side said. */
  readonly answer?: JsonObject;
  /** What the other side refused with, in place of an answer. */
  readonly error?: JsonRpcErrorObject;
  /** Nobody waits for the answer any more; it is passed over. */
  readonly isWithdrawn?: boolean;
}

/** One task, as it is kept. */
export interface TaskRecord {
  readonly id: string;
  readonly principal: Principal;
  /** Which wire created it: how a result ends the task depends on it. The engine itself does not care. */
  readonly generation: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  /** `engine`: runs are started and taken up by the engine; `hand`: the program itself ends the task, perhaps elsewhere. */
  readonly driver: 'engine' | 'hand';
  readonly call?: ToolCallRecord;
  /** The request's progress token, where progress goes on for the task's life. */
  readonly progressToken?: string | number;
  readonly resumable: boolean;
  readonly asks: readonly TaskAsk[];
  readonly result?: JsonObject;
  readonly error?: JsonRpcErrorObject;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Milliseconds from creation, or null for no end. */
  readonly ttlMs: number | null;
  readonly expiresAtMs: number | null;
  readonly pollIntervalMs?: number;
  /** Who runs it, or ran it last; undefined for a task whose run has not begun. */
  readonly lease?: { readonly owner: string; readonly untilMs: number };
  /** Counts the writes, from 1. */
  readonly version: number;
  readonly data?: JsonObject;
}

/** One page of tasks. */
export interface TaskPage {
  readonly tasks: readonly TaskRecord[];
  readonly nextCursor?: string;
}

/** What `TaskStore.update` changes. A member that is undefined is taken out. */
export type TaskChanges = {
  readonly [K in Exclude<keyof TaskRecord, 'id' | 'version' | 'createdAtMs' | 'principal'>]?: TaskRecord[K] | undefined;
};

/** Keeps tasks by compare-and-set, with leases. K1 to K8 above. */
export interface TaskStore {
  create(record: Omit<TaskRecord, 'version'>): Promise<TaskRecord>;
  get(id: string): Promise<TaskRecord | undefined>;
  /** @returns The record as written, or undefined when the version had moved on or the task is gone. */
  update(id: string, version: number, changes: TaskChanges): Promise<TaskRecord | undefined>;
  list(principal: Principal, options: { readonly cursor?: string; readonly limit: number }): Promise<TaskPage>;
  count(principal: Principal, statuses: readonly TaskStatus[]): Promise<number>;
  /** Takes or renews the right to run a task. @returns The record, or undefined when another holds a living lease. */
  lease(id: string, owner: string, untilMs: number, nowMs: number): Promise<TaskRecord | undefined>;
  /** Ids of unfinished tasks of the engine without a living lease. K8. */
  listOrphans(nowMs: number, limit: number): Promise<readonly string[]>;
  getStep(id: string, key: string): Promise<{ readonly value: JsonValue } | undefined>;
  /** @returns The value that is now stored: the first one ever put. */
  putStep(id: string, key: string, value: JsonValue): Promise<JsonValue>;
  deleteExpired(nowMs: number): Promise<number>;
  close(): Promise<void>;
}

/**
 * Spreads runs of tasks over workers.
 *
 * Q1  A job that was accepted is given to a worker at least once, also after a crash.
 * Q2  A job whose handler rejects is given out again after a delay; the lease in the `TaskStore` keeps runs apart.
 * Q3  A task that waits on the queue already is not added a second time.
 */
export interface TaskQueue {
  enqueue(taskId: string): Promise<void>;
  /** Starts taking jobs. @returns A function that stops and waits for those in hand. */
  work(handler: (taskId: string, signal: AbortSignal) => Promise<void>): () => Promise<void>;
  close(): Promise<void>;
}

/**
 * Keeps the ids of a client's tasks over its own restart.
 *
 * H1  `list` gives what was added for that server, in any order, and nothing of another.
 * H2  A task that is added again stays one record; any number may be added at once.
 * H3  `remove` forgets one task; one that is not there is no error.
 */
export interface TaskHandleStore {
  add(handle: TaskHandleRecord): Promise<void>;
  remove(server: string, taskId: string): Promise<void>;
  list(server: string): Promise<readonly TaskHandleRecord[]>;
}

/** One task of a client, as it is kept. */
export interface TaskHandleRecord {
  /** What names the server: its URL, or its command line. */
  readonly server: string;
  readonly taskId: string;
  readonly method: string;
  readonly createdAtMs: number;
}
