/**
 * Stores for tasks. A store only keeps records; the engine in `@mortise/tasks` interprets them.
 *
 * K1  `create` resolves when every machine can read the record. It rejects if the id exists already.
 * K2  `update` writes only if `version` equals the stored version. It writes all changes or none, and increments `version`. A change
 *     to undefined removes the member from the record.
 * K3  `lease` succeeds only if no other owner has a lease at `nowMs`. Of concurrent callers exactly one succeeds. It increments
 *     `version`, so that an earlier owner's `update` fails.
 * K4  `list` returns the tasks of one principal in pages, ordered by `createdAtMs`, then id, newest last. A cursor stays valid while
 *     records are added and removed. An unknown cursor rejects with a RangeError.
 * K5  A step is written once: a second write of its key returns the first value.
 * K6  A record past `expiresAtMs` is not found. `deleteExpired` deletes it with its steps.
 * K7  Returned records are copies.
 * K8  `listOrphans` returns only tasks whose `driver` is `engine` and that are neither finished nor expired, oldest first.
 */

import type { JsonObject, JsonRpcErrorObject, JsonValue } from '@mortise/jsonrpc-core';
import type { Principal } from './auth.ts';
import type { ToolCallRecord } from './extension.ts';

/** The status of a task. `completed`, `failed` and `cancelled` are final. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** A question of a task to the client. */
export interface TaskAsk {
  /** Identifies the question. A task never uses a key for two questions. */
  readonly key: string;
  /** A hash of the method and canonical params. A new run of the task reuses an answer only if the digest is equal. */
  readonly digest: string;
  readonly method: string;
  readonly params: JsonObject;
  /** The client's answer. */
  readonly answer?: JsonObject;
  /** The error that the client sent instead of an answer. */
  readonly error?: JsonRpcErrorObject;
  /** True if the task no longer needs the answer. A late answer is ignored. */
  readonly isWithdrawn?: boolean;
}

/** One stored task. */
export interface TaskRecord {
  readonly id: string;
  readonly principal: Principal;
  /** The form of the protocol that created the task (core tasks or the extension). It decides which status a result leads to. */
  readonly generation: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  /** `engine`: the engine runs the task and resumes it. `hand`: the program completes the task, possibly on another machine. */
  readonly driver: 'engine' | 'hand';
  readonly call?: ToolCallRecord;
  /** The request's progress token, if progress notifications continue while the task runs. */
  readonly progressToken?: string | number;
  readonly resumable: boolean;
  readonly asks: readonly TaskAsk[];
  readonly result?: JsonObject;
  readonly error?: JsonRpcErrorObject;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** How long the task is kept after creation, in milliseconds; null for no limit. */
  readonly ttlMs: number | null;
  readonly expiresAtMs: number | null;
  readonly pollIntervalMs?: number;
  /** The engine that runs the task, or ran it last; undefined before the first run. */
  readonly lease?: { readonly owner: string; readonly untilMs: number };
  /** The number of writes so far: 1 after the first. */
  readonly version: number;
  readonly data?: JsonObject;
}

/** One page of tasks. */
export interface TaskPage {
  readonly tasks: readonly TaskRecord[];
  readonly nextCursor?: string;
}

/** The changes of `TaskStore.update`. A member set to undefined is removed from the record. */
export type TaskChanges = {
  readonly [K in Exclude<keyof TaskRecord, 'id' | 'version' | 'createdAtMs' | 'principal'>]?: TaskRecord[K] | undefined;
};

/** Stores tasks with compare-and-set and leases. Promises K1 to K8 are at the top of this file. */
export interface TaskStore {
  create(record: Omit<TaskRecord, 'version'>): Promise<TaskRecord>;
  get(id: string): Promise<TaskRecord | undefined>;
  /** @returns The updated record; undefined if the stored version differs or the task does not exist. */
  update(id: string, version: number, changes: TaskChanges): Promise<TaskRecord | undefined>;
  list(principal: Principal, options: { readonly cursor?: string; readonly limit: number }): Promise<TaskPage>;
  count(principal: Principal, statuses: readonly TaskStatus[]): Promise<number>;
  /** Takes or renews the lease for running a task. @returns The record; undefined if another owner has an unexpired lease. */
  lease(id: string, owner: string, untilMs: number, nowMs: number): Promise<TaskRecord | undefined>;
  /** Gives the ids of unfinished `engine` tasks without an unexpired lease. K8. */
  listOrphans(nowMs: number, limit: number): Promise<readonly string[]>;
  getStep(id: string, key: string): Promise<{ readonly value: JsonValue } | undefined>;
  /**
   * Drops nothing that a process may still ask for: a store in memory drops the steps of a task that has ended, one that processes share keeps
   * them until the task expires, since a process that lost its lease may go on for a while.
   *
   * @returns The stored value: that of the first `putStep` for this key.
   */
  putStep(id: string, key: string, value: JsonValue): Promise<JsonValue>;
  deleteExpired(nowMs: number): Promise<number>;
  close(): Promise<void>;
}

/**
 * Distributes runs of tasks to workers.
 *
 * Q1  An accepted job reaches a worker at least once, even after a crash.
 * Q2  A job whose handler rejects is delivered again after a delay. The lease in the `TaskStore` prevents two runs at a time.
 * Q3  A task that is already waiting in the queue is not added again.
 */
export interface TaskQueue {
  enqueue(taskId: string): Promise<void>;
  /** Starts to take jobs. @returns A function that stops taking jobs and waits for the running ones. */
  work(handler: (taskId: string, signal: AbortSignal) => Promise<void>): () => Promise<void>;
  close(): Promise<void>;
}

/**
 * Stores the ids of a client's tasks, so that the client finds them after a restart.
 *
 * H1  `list` returns the tasks added for that server and no other, in any order.
 * H2  A task that is added twice is one record. Concurrent `add` calls are safe.
 * H3  `remove` deletes one task. Removing an unknown task is no error.
 */
export interface TaskHandleStore {
  add(handle: TaskHandleRecord): Promise<void>;
  remove(server: string, taskId: string): Promise<void>;
  list(server: string): Promise<readonly TaskHandleRecord[]>;
}

/** One stored task of a client. */
export interface TaskHandleRecord {
  /** Identifies the server: its URL or command line. */
  readonly server: string;
  readonly taskId: string;
  readonly method: string;
  readonly createdAtMs: number;
}
