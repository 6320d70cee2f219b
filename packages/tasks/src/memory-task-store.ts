/** `MemoryTaskStore`: keeps tasks in the memory of one process. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { Principal, TaskChanges, TaskPage, TaskRecord, TaskStatus, TaskStore } from '@mortise/protocol/contracts';
import { isEnded } from './engine/task-states.ts';
import { TaskLimitError } from './errors.ts';

interface Entry {
  record: TaskRecord;
  steps: Map<string, JsonValue> | undefined;
  /** The length in characters of the task's record and `ctx.once` steps as JSON, which the limits of the store count. */
  weight: number;
  stepsWeight: number;
}

/** What the store counts for one principal, or for all: the ended tasks, and the total size of all tasks. */
interface Kept {
  weight: number;
  /** The ids of ended tasks. The task that ended first comes first. */
  readonly ended: Set<string>;
}

/** The limits of one principal's tasks, or of all. At a limit, tasks that ended first are deleted; if none has ended, `create` rejects. */
interface Bound {
  readonly maxEnded: number;
  readonly maxWeight: number;
}
const BOUND_OF_EACH: Bound = { maxEnded: 10_000, maxWeight: 32 * 2 ** 20 };
const BOUND_OF_ALL: Bound = { maxEnded: 50_000, maxWeight: 128 * 2 ** 20 };

interface Owner extends Kept {
  /** The ids of this principal's tasks, in the order of their creation. */
  readonly ids: Set<string>;
  /** The number of this principal's tasks by status, so that `count` needs no scan. */
  readonly counts: Map<TaskStatus, number>;
}

/** The options of `MemoryTaskStore`. */
export interface MemoryTaskStoreOptions {
  /** Gives the current time in milliseconds since the epoch, which decides whether a task has expired. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/**
 * Keeps tasks in memory. The tasks are lost when the process ends. For tasks that survive it use a store such as `@mortise/store-sqlite`.
 */
export class MemoryTaskStore implements TaskStore {
  readonly #now: () => number;
  readonly #tasks = new Map<string, Entry>();
  readonly #all: Kept = { weight: 0, ended: new Set() };
  readonly #owners = new Map<Principal, Owner>();
  /** The ids of unfinished tasks that end with their tool's handler (driver `engine`), oldest first. */
  readonly #open = new Set<string>();
  /** The time when the first task may expire, in milliseconds since the epoch: before it there is nothing to delete. */
  #nextExpiryMs = Infinity;

  constructor(options: MemoryTaskStoreOptions = {}) {
    checkOptions('MemoryTaskStore options', options, { now: 'function' });
    this.#now = options.now ?? Date.now;
  }

  /** Stores a new task. @throws {TaskLimitError} `ERR_TASK_LIMIT`: the unfinished tasks of this principal, or of all, fill the store. */
  async create(record: Omit<TaskRecord, 'version'>): Promise<TaskRecord> {
    if (this.#tasks.has(record.id)) throw new Error('A task with this id already exists: use a new id');
    const kept: TaskRecord = copyJson({ ...record, version: 1 });
    const { id, principal } = kept;
    const owner = this.#owners.get(principal) ?? { weight: 0, ended: new Set(), ids: new Set(), counts: new Map() };
    const weight = weigh(kept);
    if (!this.#makeRoom(owner, weight)) throw fullError();
    this.#owners.set(principal, owner);
    owner.ids.add(id);
    this.#tasks.set(id, { record: kept, steps: undefined, weight, stepsWeight: 0 });
    this.#add(owner, weight);
    this.#count(owner, kept, 1);
    this.#nextExpiryMs = Math.min(this.#nextExpiryMs, kept.expiresAtMs ?? Infinity);
    if (kept.driver === 'engine' && !isEnded(kept.status)) this.#open.add(id);
    return copyJson(kept);
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    const record = this.#find(id)?.record;
    return record && copyJson(record);
  }

  async update(id: string, version: number, changes: TaskChanges): Promise<TaskRecord | undefined> {
    const entry = this.#find(id);
    return entry?.record.version === version ? copyJson(this.#write(entry, copyJson(changes))) : undefined;
  }

  async list(principal: Principal, options: { readonly cursor?: string; readonly limit: number }): Promise<TaskPage> {
    const after = options.cursor === undefined ? undefined : parseCursor(options.cursor);
    const found = [...(this.#owners.get(principal)?.ids ?? [])]
      .map((id) => this.#find(id)?.record)
      .filter((record) => record !== undefined)
      .sort(byCreation)
      .filter((record) => after === undefined || byCreation(record, after) > 0);
    const tasks = found.slice(0, options.limit);
    const last = tasks.at(-1);
    return {
      tasks: copyJson(tasks),
      ...(last && found.length > tasks.length ? { nextCursor: `${last.createdAtMs}:${last.id}` } : {}),
    };
  }

  async count(principal: Principal, statuses: readonly TaskStatus[]): Promise<number> {
    this.#deleteExpired(this.#now());
    const counts = this.#owners.get(principal)?.counts;
    return statuses.reduce((sum, status) => sum + (counts?.get(status) ?? 0), 0);
  }

  async lease(id: string, owner: string, untilMs: number, nowMs: number): Promise<TaskRecord | undefined> {
    const entry = this.#find(id);
    if (!entry) return undefined;
    const { lease } = entry.record;
    if (lease && lease.owner !== owner && lease.untilMs > nowMs) return undefined;
    return copyJson(this.#write(entry, { lease: { owner, untilMs } }));
  }

  async listOrphans(nowMs: number, limit: number): Promise<readonly string[]> {
    const orphans: TaskRecord[] = [];
    for (const id of this.#open) {
      const record = this.#find(id)?.record;
      if (record && !(record.lease && record.lease.untilMs > nowMs)) orphans.push(record);
    }
    const oldest = orphans.sort(byCreation).slice(0, limit);
    return oldest.map(({ id }) => id);
  }

  async getStep(id: string, key: string): Promise<{ readonly value: JsonValue } | undefined> {
    const steps = this.#find(id)?.steps;
    return steps?.has(key) ? { value: copyJson(steps.get(key) as JsonValue) } : undefined;
  }

  async putStep(id: string, key: string, value: JsonValue): Promise<JsonValue> {
    const entry = this.#find(id);
    if (!entry) throw new Error('The ctx.once step cannot be stored: its task does not exist or has expired');
    const known = entry.steps?.get(key);
    if (known !== undefined) return copyJson(known);
    // Steps are needed only while the task may run again: none is kept once it has ended.
    if (isEnded(entry.record.status)) return copyJson(value);
    const weight = key.length + JSON.stringify(value).length;
    const owner = this.#owners.get(entry.record.principal) as Owner;
    if (!this.#makeRoom(owner, weight)) throw fullError();
    (entry.steps ??= new Map()).set(key, copyJson(value));
    entry.stepsWeight += weight;
    this.#setWeight(owner, entry, entry.weight + weight);
    return copyJson(value);
  }

  async deleteExpired(nowMs: number): Promise<number> {
    return this.#deleteExpired(nowMs);
  }

  async close(): Promise<void> {
    for (const held of [this.#tasks, this.#owners, this.#open, this.#all.ended]) held.clear();
    this.#all.weight = 0;
  }

  #deleteExpired(nowMs: number): number {
    if (nowMs < this.#nextExpiryMs) return 0;
    const before = this.#tasks.size;
    this.#nextExpiryMs = Infinity;
    for (const entry of this.#tasks.values()) {
      const expiresAtMs = entry.record.expiresAtMs ?? Infinity;
      if (expiresAtMs > nowMs) this.#nextExpiryMs = Math.min(this.#nextExpiryMs, expiresAtMs);
      else this.#delete(entry);
    }
    return before - this.#tasks.size;
  }

  #find(id: string): Entry | undefined {
    const entry = this.#tasks.get(id);
    if (!entry) return undefined;
    const { expiresAtMs } = entry.record;
    if (expiresAtMs === null || expiresAtMs > this.#now()) return entry;
    this.#delete(entry);
    return undefined;
  }

  #write(entry: Entry, changes: TaskChanges): TaskRecord {
    const before = entry.record;
    const written: Record<string, unknown> = { ...before, version: before.version + 1 };
    for (const [key, value] of Object.entries(changes)) {
      if (value === undefined) delete written[key];
      else written[key] = value;
    }
    const after = (entry.record = written as unknown as TaskRecord);
    const owner = this.#owners.get(after.principal) as Owner;
    if (isEnded(after.status)) {
      entry.steps = undefined;
      entry.stepsWeight = 0;
    }
    if (changes.lease === undefined) this.#setWeight(owner, entry, weigh(after) + entry.stepsWeight);
    if (after.status !== before.status) {
      if (isEnded(after.status)) {
        this.#open.delete(after.id);
        this.#makeRoom(owner, 0);
      }
      this.#count(owner, before, -1);
      this.#count(owner, after, 1);
    }
    this.#nextExpiryMs = Math.min(this.#nextExpiryMs, after.expiresAtMs ?? Infinity);
    return after;
  }

  #delete({ record, weight }: Entry): void {
    const owner = this.#owners.get(record.principal) as Owner;
    this.#tasks.delete(record.id);
    this.#add(owner, -weight);
    this.#count(owner, record, -1);
    this.#open.delete(record.id);
    owner.ids.delete(record.id);
    if (owner.ids.size === 0) this.#owners.delete(record.principal);
  }

  /** Deletes ended tasks until a record of `weight` characters fits. @returns false if unfinished tasks take all the room. */
  #makeRoom(owner: Owner, weight: number): boolean {
    return this.#makeRoomIn(owner, BOUND_OF_EACH, weight) && this.#makeRoomIn(this.#all, BOUND_OF_ALL, weight);
  }

  #makeRoomIn(kept: Kept, { maxEnded, maxWeight }: Bound, weight: number): boolean {
    while (kept.ended.size >= maxEnded || kept.weight + weight > maxWeight) {
      const [first] = kept.ended;
      const entry = first === undefined ? undefined : this.#tasks.get(first);
      if (!entry) return false;
      this.#delete(entry);
    }
    return true;
  }

  #setWeight(owner: Owner, entry: Entry, weight: number): void {
    this.#add(owner, weight - entry.weight);
    entry.weight = weight;
  }

  #add(owner: Owner, weight: number): void {
    owner.weight += weight;
    this.#all.weight += weight;
  }

  /** Adds a task to the count of its status, or removes it. @param by 1 to add the task, -1 to remove it. */
  #count(owner: Owner, { id, status }: TaskRecord, by: 1 | -1): void {
    owner.counts.set(status, (owner.counts.get(status) ?? 0) + by);
    if (!isEnded(status)) return;
    for (const { ended } of [owner, this.#all]) {
      if (by > 0) ended.add(id);
      else ended.delete(id);
    }
  }
}

function fullError(): TaskLimitError {
  return new TaskLimitError('The task store is full of unfinished tasks: wait for some of them, or cancel them');
}

function weigh(record: TaskRecord): number {
  return JSON.stringify(record).length;
}

type Position = Pick<TaskRecord, 'createdAtMs' | 'id'>;

function byCreation(one: Position, other: Position): number {
  return one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

/** Reads from a cursor of `list` after which task the next page begins. @throws {RangeError} The cursor is not from this store. */
function parseCursor(cursor: string): Position {
  const [, createdAtMs, id = ''] = /^(\d+):(.+)$/.exec(cursor) ?? [];
  if (createdAtMs === undefined) throw new RangeError('invalid cursor: it is not from this task store');
  return { createdAtMs: Number(createdAtMs), id };
}

/** Copies plain JSON data deeply, faster than `structuredClone`. Keeps members that are undefined. */
function copyJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson) as T;
  const copy: Record<string, unknown> = {};
  for (const key in value) {
    // Parsed JSON may have any key, and assigning to `__proto__` would set the prototype.
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: copyJson(value[key]), enumerable: true, configurable: true, writable: true });
    else copy[key] = copyJson(value[key]);
  }
  return copy as T;
}
