/** Creates tasks: as many as a caller may have, for as long as they may be kept, under ids that nobody can guess. */

import type { Clock, JsonObject, Meter } from '@mortise/jsonrpc-core';
import { toBase64Url } from '@mortise/jsonrpc-core/encoding';
import type { Principal, TaskRecord, TaskStore, ToolCallRecord } from '@mortise/protocol/contracts';
import { TaskLimitError } from '../errors.ts';
import { OPEN } from './task-states.ts';

/** The bounds of tasks. */
export interface TaskLimits {
  /** How long a task is kept at most, from its creation, in milliseconds. A longer wish is cut. @default 86_400_000 (one day) */
  readonly maxTtlMs?: number;
  /** How long a task is kept where its caller names no time, in milliseconds. @default `maxTtlMs` */
  readonly defaultTtlMs?: number;
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
  /** Who takes the task to its end: the engine, by `run`, or the program, by hand. @default 'engine' */
  readonly driver?: 'engine' | 'hand';
  readonly call?: ToolCallRecord | undefined;
  readonly progressToken?: string | number | undefined;
  /** Whether another process may run it anew once its own has died; without that it then fails. @default false */
  readonly resumable?: boolean;
  /** The wish of the caller, in milliseconds; null for no end, which is cut to the maximum too. */
  readonly ttlMs?: number | null | undefined;
  readonly pollIntervalMs?: number | undefined;
  readonly statusMessage?: string | undefined;
  readonly data?: JsonObject | undefined;
}

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

/** With a NaN here the task would never expire, or expire at once. */
function checkDuration(name: string, valueMs: number | null | undefined): void {
  if (valueMs === undefined || valueMs === null || valueMs >= 0) return;
  throw new RangeError(`A task's "${name}" must be a number of milliseconds, 0 or more, got ${String(valueMs)}`);
}

/** 192 bits, as base64url, so that an id may stand in a header. */
const ID_BYTES = 24;

/** The longest id that is looked up. */
export const MAX_ID_LENGTH = 128;

/** Makes an id that nobody can guess. */
export function createTaskId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return toBase64Url(bytes);
}

/** The beginning of an id, for logs: their readers must not be able to use the task. */
export function shortId(id: string): string {
  return `${id.slice(0, 6)}...`;
}
