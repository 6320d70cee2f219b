/** Creates tasks with unguessable ids, within the limits of number and lifetime. */

import type { Clock, JsonObject } from '@mortise/jsonrpc-core';
import { toBase64Url } from '@mortise/jsonrpc-core/encoding';
import type { Principal, TaskRecord, TaskStore, ToolCallRecord } from '@mortise/protocol/contracts';
import { TaskLimitError } from '../errors.ts';

/** The limits of a server's tasks: their lifetime, their number, and how often they are polled. */
export interface TaskLimits {
  /** The longest time a task is kept after its creation, in ms, even if the client asks for more. @default 86_400_000 (one day) */
  readonly maxTtlMs?: number;
  /** The most unfinished tasks of one principal (an authenticated identity). @default 100 */
  readonly maxTasksPerPrincipal?: number;
  /** How long clients should wait between two polls of a task, in milliseconds. @default 1_000 */
  readonly pollIntervalMs?: number;
  /**
   * The most polls of one task per second. Bursts may be three times as large. A poll beyond that gets error 429, whose
   * `data.retryAfterMs` says when to poll again.
   *
   * @default 10
   */
  readonly maxPollsPerSecond?: number;
}

/** The properties of a task that is to be created. */
export interface NewTask {
  readonly principal: Principal;
  readonly generation: string;
  /** What ends the task. `engine`: the tool's handler, when it returns. `hand`: the program, by a `TaskControl`. @default 'engine' */
  readonly driver?: 'engine' | 'hand';
  readonly call?: ToolCallRecord | undefined;
  readonly progressToken?: string | number | undefined;
  /** Whether another process may run the task again from its start if its process dies. If not, the task fails. @default false */
  readonly resumable?: boolean;
  /** How long the task is kept after its creation, in milliseconds. @default the limit `maxTtlMs` */
  readonly ttlMs?: number | undefined;
  readonly statusMessage?: string | undefined;
  readonly data?: JsonObject | undefined;
}

/** Logs a task event, such as a creation, and counts it. @param counter The last part of the metric's name, `mcp.tasks.<counter>`. */
export type Audit = (message: string, about: Pick<TaskRecord, 'principal'> & Partial<TaskRecord>, counter?: string) => void;

/** The store, clock, limits and log function that a `TaskCreator` uses. */
export interface TaskCreatorInit {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly limits: Required<TaskLimits>;
  readonly leaseMs: number;
  readonly audit: Audit;
}

export class TaskCreator {
  readonly #init: TaskCreatorInit;

  constructor(init: TaskCreatorInit) {
    this.#init = init;
  }

  /** Creates a task in the store. @param owner The engine that runs it already. @throws {TaskLimitError} The principal has too many. */
  async create(task: NewTask, owner?: string): Promise<TaskRecord> {
    const { store, clock, limits, leaseMs, audit } = this.#init;
    const { principal, generation, driver = 'engine', resumable = false } = task;
    const now = clock.now();
    const ttlMs = Math.min(Math.max(1, Math.floor(task.ttlMs ?? limits.maxTtlMs)), limits.maxTtlMs);
    const record: Omit<TaskRecord, 'version'> = {
      id: toBase64Url(crypto.getRandomValues(new Uint8Array(ID_BYTES))),
      principal,
      generation,
      driver,
      resumable,
      status: 'working',
      asks: [],
      createdAtMs: now,
      updatedAtMs: now,
      ttlMs: ttlMs === Infinity ? null : ttlMs,
      pollIntervalMs: limits.pollIntervalMs,
      ...(task.call && { call: task.call }),
      ...(task.progressToken !== undefined && { progressToken: task.progressToken }),
      ...(task.statusMessage !== undefined && { statusMessage: task.statusMessage }),
      ...(task.data && { data: task.data }),
      ...(owner !== undefined && { owner }),
    };
    const max = limits.maxTasksPerPrincipal;
    const created = await store.create(record, { maxOpen: max, leaseMs });
    audit(
      created ? 'A task was created' : 'A task was refused: too many are unfinished',
      created ?? { principal },
      created ? 'created' : 'refused',
    );
    if (created) return created;
    throw new TaskLimitError(`You have ${max} unfinished tasks, which is the limit: wait for some of them, or cancel them`);
  }
}

/** The length of a task id: 192 random bits. The id is written as base64url, which HTTP headers can carry. */
const ID_BYTES = 24;
