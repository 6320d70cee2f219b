/** Creates tasks: as many as a caller may have, for as long as they may be kept, under ids that cannot be guessed. */

import type { Clock, JsonObject } from '@mortise/jsonrpc-core';
import { toBase64Url } from '@mortise/jsonrpc-core/encoding';
import type { Principal, TaskRecord, TaskStore, ToolCallRecord } from '@mortise/protocol/contracts';
import { TaskLimitError } from '../errors.ts';
import { OPEN } from './task-states.ts';

/** The bounds of tasks. */
export interface TaskLimits {
  /** How long a task is kept at most, from its creation, in milliseconds. A longer wish is cut. @default 86_400_000 (one day) */
  readonly maxTtlMs?: number;
  /** How many unfinished tasks one principal may have. @default 100 */
  readonly maxTasksPerPrincipal?: number;
  /** How often clients should poll, in milliseconds. @default 1_000 */
  readonly pollIntervalMs?: number;
  /** How often one task may be polled in a second; three times as many may come at once. @default 10 */
  readonly maxPollsPerSecond?: number;
}

/** A task to create. */
export interface NewTask {
  readonly principal: Principal;
  readonly generation: string;
  /** Who ends the task: the engine, by running its tool, or the program, by hand. @default 'engine' */
  readonly driver?: 'engine' | 'hand';
  readonly call?: ToolCallRecord | undefined;
  readonly progressToken?: string | number | undefined;
  /** Whether another process may run it again once its own has died; without that it then fails. @default false */
  readonly resumable?: boolean;
  /** The wish of the caller, in milliseconds. @default the maximum */
  readonly ttlMs?: number | undefined;
  readonly statusMessage?: string | undefined;
  readonly data?: JsonObject | undefined;
}

/** Says what happened to a task, for operators. @param counter The metric that counts it, `mcp.tasks.<counter>`. */
export type Audit = (message: string, about: Pick<TaskRecord, 'principal'> & Partial<TaskRecord>, counter?: string) => void;

/** What creating needs of its engine. */
export interface TaskCreatorInit {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly limits: Required<TaskLimits>;
  readonly audit: Audit;
}

export class TaskCreator {
  readonly #init: TaskCreatorInit;
  /** The last creation under way of each principal. */
  readonly #creating = new Map<Principal, Promise<unknown>>();

  constructor(init: TaskCreatorInit) {
    this.#init = init;
  }

  /**
   * Creates the tasks of a principal one after the other, so that of two that come at once both count. Another process counts for itself: with
   * several, a caller may have as many more as they create at the same moment.
   */
  async create(task: NewTask, lease?: TaskRecord['lease']): Promise<TaskRecord> {
    const { principal } = task;
    const before = this.#creating.get(principal);
    const create = (): Promise<TaskRecord> => this.#createNow(task, lease);
    const created = before ? before.then(create, create) : create();
    this.#creating.set(principal, created);
    try {
      return await created;
    } finally {
      if (this.#creating.get(principal) === created) this.#creating.delete(principal);
    }
  }

  async #createNow(task: NewTask, lease: TaskRecord['lease']): Promise<TaskRecord> {
    const { store, clock, limits, audit } = this.#init;
    const { principal, generation, driver = 'engine', resumable = false } = task;
    await this.#checkCount(principal);
    const now = clock.now();
    const ttlMs = Math.min(Math.max(1, Math.floor(task.ttlMs ?? limits.maxTtlMs)), limits.maxTtlMs);
    const isEndless = ttlMs === Infinity;
    const record = await store.create({
      id: toBase64Url(crypto.getRandomValues(new Uint8Array(ID_BYTES))),
      principal,
      generation,
      driver,
      resumable,
      status: 'working',
      asks: [],
      createdAtMs: now,
      updatedAtMs: now,
      ttlMs: isEndless ? null : ttlMs,
      expiresAtMs: isEndless ? null : now + ttlMs,
      pollIntervalMs: limits.pollIntervalMs,
      ...(task.call && { call: task.call }),
      ...(task.progressToken !== undefined && { progressToken: task.progressToken }),
      ...(task.statusMessage !== undefined && { statusMessage: task.statusMessage }),
      ...(task.data && { data: task.data }),
      ...(lease && { lease }),
    });
    audit('A task was created', record, 'created');
    return record;
  }

  async #checkCount(principal: Principal): Promise<void> {
    const max = this.#init.limits.maxTasksPerPrincipal;
    if ((await this.#init.store.count(principal, OPEN)) < max) return;
    this.#init.audit('A task was refused: too many are unfinished', { principal }, 'refused');
    throw new TaskLimitError(`You have ${max} unfinished tasks, which is the most: wait for some of them, or cancel them`);
  }
}

/** 192 bits, as base64url, so that an id may stand in a header. */
const ID_BYTES = 24;
