/** Stores for tasks. */

import type { JsonObject, JsonRpcErrorObject, JsonValue } from '@mortise/jsonrpc-core';
import type { Principal } from './auth.ts';
import type { ToolCallRecord } from './extension.ts';

/** The status of a task. `completed`, `failed` and `cancelled` are final. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** A request of a task to the client (elicitation, sampling, roots), and the client's answer. */
export interface TaskAsk {
  /** Identifies the request to the client within the task. A task never uses a key for two requests. */
  readonly key: string;
  /** A hash of the request's method and canonical params. A new run of the task reuses the answer only if this hash is equal. */
  readonly digest: string;
  readonly method: string;
  readonly params: JsonObject;
  /** The client's answer; absent until it has arrived. */
  readonly answer?: JsonObject;
  /** The error that the client sent instead of an answer. */
  readonly error?: JsonRpcErrorObject;
  /** True if the task no longer needs the client's answer. An answer that still arrives is ignored. */
  readonly isWithdrawn?: boolean;
}

/** A task, as a `TaskStore` stores it. */
export interface TaskRecord {
  readonly id: string;
  readonly principal: Principal;
  /** The kind of task: of the core protocol (2025-11-25) or of the extension. They differ in the status that a result leads to. */
  readonly generation: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  /** `engine`: the engine of `@mortise/tasks` runs the task and resumes it. `hand`: the program completes it, maybe on another machine. */
  readonly driver: 'engine' | 'hand';
  readonly call?: ToolCallRecord;
  /** The progress token of the request that created the task, if progress notifications continue while the task runs. */
  readonly progressToken?: string | number;
  readonly resumable: boolean;
  readonly asks: readonly TaskAsk[];
  readonly result?: JsonObject;
  readonly error?: JsonRpcErrorObject;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** How long the task is kept after creation, in milliseconds; null for no limit. */
  readonly ttlMs: number | null;
  readonly pollIntervalMs?: number;
  /** The engine that runs the task, or ran it last; absent before the first run. */
  readonly owner?: string;
  /** The number of times that the task has been written: 1 after the first. */
  readonly version: number;
  readonly data?: JsonObject;
}

/** One page of tasks, as `TaskStore.list` returns it. */
export interface TaskPage {
  readonly tasks: readonly TaskRecord[];
  readonly nextCursor?: string;
}

/** The changes to a task in `TaskStore.update`: the new values of members, and which members are removed. */
export interface TaskChanges extends Partial<
  Omit<TaskRecord, 'id' | 'version' | 'createdAtMs' | 'principal' | 'generation' | 'driver' | 'ttlMs' | 'owner'>
> {
  /** The members to remove from the record. */
  readonly remove?: readonly ('call' | 'statusMessage' | 'result' | 'error' | 'data')[];
}

/** The conditions under which `TaskStore.create` stores a task. */
export interface TaskTerms {
  /** The most unfinished tasks that the principal may have, with the new one. @default Infinity */
  readonly maxOpen?: number | undefined;
  /** How long no other process takes the task for an orphan, and its owner is alive, in milliseconds. */
  readonly leaseMs: number;
}

/** What `TaskStore.claim` gives. */
export interface TaskClaim {
  readonly record: TaskRecord;
  /** Whether an owner has had the task before. */
  readonly wasStarted: boolean;
}

/**
 * Stores tasks with compare-and-set and leases. A store only keeps records; the engine in `@mortise/tasks` runs the tasks.
 *
 * The store tells the time: leases and lifetimes are given as durations, because the clocks of machines differ. An owner is a process that
 * runs tasks. It is alive for `leaseMs` milliseconds after its last `claim`, `renew` or `create` of a task with it as owner.
 *
 * - K1: `create` resolves when every machine can read the record. It rejects if the id exists already. It stores nothing and resolves to
 *   undefined if the principal has `maxOpen` unfinished tasks or more, also if several machines create tasks at once.
 * - K2: `update` writes only if `version` equals the stored version. It writes all changes or none, and increments `version`.
 * - K3: `claim` succeeds only if the task is unfinished, its `driver` is `engine`, and no other owner of it is alive. Of concurrent callers
 *   exactly one succeeds. It increments `version`, so that an earlier owner's `update` fails. There is no other way to get a task that
 *   exists.
 * - K4: `list` returns the tasks of one principal in pages, ordered by `createdAtMs`, then id, newest last. A cursor stays valid while
 *   records are added and removed. An unknown cursor rejects with a RangeError.
 * - K5: The value of a step (`ctx.once`) is written once: a second write with the same key returns the first value.
 * - K6: A task expires `ttlMs` after its creation by the store's time (not by `createdAtMs`), and is not found then. A store deletes
 *   expired tasks with their steps as it writes, some at a time, so that no call takes longer if much has expired.
 * - K7: Returned records are copies.
 * - K8: An orphan is an unfinished task of the driver `engine` that has no living owner and was not created or returned by `claimOrphans`
 *   within the `leaseMs` of that call; a `claim` ends that time. `claimOrphans` returns orphans, about those first that have waited
 *   longest, each to one caller.
 * - K9: What is stored has bounds: 10,000 ended tasks and 32 Mi characters of all records and steps, as JSON, for one principal. A store
 *   on one machine also has them for all principals: 50,000 and 128 Mi. At a bound, the tasks that ended first are deleted. If unfinished
 *   tasks take all the room, `create` and `putStep` reject with a `MortiseError` that has the code `ERR_TASK_LIMIT`.
 */
export interface TaskStore {
  /** Stores a new task. @returns The stored record; undefined if the principal has too many unfinished tasks. */
  create(record: Omit<TaskRecord, 'version'>, terms: TaskTerms): Promise<TaskRecord | undefined>;
  get(id: string): Promise<TaskRecord | undefined>;
  /** Changes a task. @returns The updated record; undefined if the stored version is not `version`, or the task does not exist. */
  update(id: string, version: number, changes: TaskChanges): Promise<TaskRecord | undefined>;
  /** Deletes a task with its steps. Does nothing if it does not exist. */
  delete(id: string): Promise<void>;
  list(principal: Principal, options: { readonly cursor?: string; readonly limit: number }): Promise<TaskPage>;
  /** Takes the exclusive right to run a task. @returns Undefined if it is not to be had. See K3. */
  claim(id: string, owner: string, leaseMs: number): Promise<TaskClaim | undefined>;
  /** Returns orphans, and to no other caller for `leaseMs` milliseconds. Changes nothing else. See K8. */
  claimOrphans(leaseMs: number, limit: number): Promise<readonly TaskRecord[]>;
  /**
   * Keeps an owner alive, and with it all of its tasks. Does not change the version of a task. With a `leaseMs` of 0 the owner is not alive
   * any more, so that others may have its tasks at once.
   *
   * @returns The unfinished tasks of the owner, with their versions.
   */
  renew(owner: string, leaseMs: number): Promise<readonly Pick<TaskRecord, 'id' | 'version'>[]>;
  getStep(id: string, key: string): Promise<{ readonly value: JsonValue } | undefined>;
  /**
   * Stores the value of a step (`ctx.once`) of a task. A store in memory drops the steps when the task ends. A store that several processes
   * share keeps them until the task expires, because a process that lost its lease may go on for a while.
   *
   * @returns The stored value: that of the first `putStep` for this key. Rejects if the task does not exist or has expired.
   */
  putStep(id: string, key: string, value: JsonValue): Promise<JsonValue>;
  close(): Promise<void>;
}

/**
 * Distributes tasks to the workers that run them.
 *
 * Q1  An accepted job (one run of a task) reaches a worker at least once, even after a crash.
 * Q2  A job whose handler rejects is delivered again after a delay. `TaskStore.claim` prevents two runs of a task at the same time.
 * Q3  A task that is already waiting in the queue is not added again. One whose handler is running is added, and delivered once more: a
 *     handler may have seen its task before the reason for the new job.
 */
export interface TaskQueue {
  /** Adds a task. @param principal Whose task it is, so that a queue can keep one caller from taking all workers. */
  enqueue(taskId: string, principal?: Principal): Promise<void>;
  /** Passes the ids of queued tasks to `handler`. @returns A function that stops this and waits for the running handlers. */
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

/** A task of a client, as a `TaskHandleStore` stores it. */
export interface TaskHandleRecord {
  /** Identifies the server that has the task: its URL or command line. */
  readonly server: string;
  readonly taskId: string;
  readonly method: string;
  readonly createdAtMs: number;
}
