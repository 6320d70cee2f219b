/** Writes new tasks into the store, as many as a caller may have and for as long as they may be kept. */

import type { Clock, Meter } from '@mortise/jsonrpc-core';
import type { Principal, TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { TaskLimitError } from '../errors.ts';
import type { NewTask, TaskLimits } from './engine-options.ts';
import { createTaskId } from './task-id.ts';
import { OPEN } from './transitions.ts';

const DAY_MS = 86_400_000;

/** What creating needs of its engine. */
export interface TaskCreatorInit {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly limits: TaskLimits;
  readonly meter: Meter | undefined;
  audit(message: string, about: Pick<TaskRecord, 'principal'> & Partial<TaskRecord>): void;
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
  async create(task: NewTask, lease: TaskRecord['lease']): Promise<TaskRecord> {
    checkDuration('ttlMs', task.ttlMs);
    checkDuration('pollIntervalMs', task.pollIntervalMs);
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
    const { principal, generation, driver = 'engine', resumable = false } = task;
    await this.#checkCount(principal);
    const now = this.#init.clock.now();
    const ttlMs = this.#toTtl(task.ttlMs);
    const record = await this.#init.store.create({
      id: createTaskId(),
      principal,
      generation,
      driver,
      resumable,
      status: 'working',
      asks: [],
      createdAtMs: now,
      updatedAtMs: now,
      ttlMs,
      expiresAtMs: ttlMs === null ? null : now + ttlMs,
      pollIntervalMs: task.pollIntervalMs ?? this.#init.limits.pollIntervalMs ?? 1000,
      ...(task.call && { call: task.call }),
      ...(task.progressToken !== undefined && { progressToken: task.progressToken }),
      ...(task.statusMessage !== undefined && { statusMessage: task.statusMessage }),
      ...(task.data && { data: task.data }),
      ...(lease && { lease }),
    });
    this.#init.meter?.count('mcp.tasks.created', 1);
    this.#init.audit('A task was created', record);
    return record;
  }

  async #checkCount(principal: Principal): Promise<void> {
    const max = this.#init.limits.maxTasksPerPrincipal ?? 100;
    if ((await this.#init.store.count(principal, OPEN)) < max) return;
    this.#init.meter?.count('mcp.tasks.refused', 1);
    this.#init.audit('A task was refused: too many are unfinished', { principal });
    throw new TaskLimitError(`You have ${max} unfinished tasks, which is the most: wait for some of them, or cancel them`);
  }

  #toTtl(wish: number | null | undefined): number | null {
    const maxTtlMs = this.#init.limits.maxTtlMs ?? DAY_MS;
    const ttlMs = wish === undefined ? (this.#init.limits.defaultTtlMs ?? maxTtlMs) : (wish ?? maxTtlMs);
    const cut = Math.min(Math.max(1, Math.floor(ttlMs)), maxTtlMs);
    return cut === Infinity ? null : cut;
  }
}

/** A clock that is asked for what is no time would keep the task for ever, or for none. */
function checkDuration(name: string, valueMs: number | null | undefined): void {
  if (valueMs === undefined || valueMs === null || valueMs >= 0) return;
  throw new RangeError(`A task's "${name}" must be a number of milliseconds, 0 or more, got ${String(valueMs)}`);
}
