/** `MemoryTaskStore`: keeps tasks in the memory of one process. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { Principal, TaskChanges, TaskClaim, TaskPage, TaskRecord, TaskStore, TaskTerms } from '@mortise/protocol/contracts';
import { isEnded } from './engine/task-states.ts';
import { TaskLimitError } from './errors.ts';

interface Entry {
  record: TaskRecord;
  steps: Map<string, JsonValue> | undefined;
  /** The length in characters of the task's record and `ctx.once` steps as JSON, which the limits of the store count. */
  weight: number;
  stepsWeight: number;
  /** When the task expires. */
  readonly expiresAtMs: number;
  /** Until when nobody takes the task for an orphan. */
  heldUntilMs: number;
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

/** The most expired tasks that one `create` deletes. */
const DELETED_AT_ONCE = 10_000;

interface Owner extends Kept {
  /** The ids of this principal's tasks, in the order of their creation. */
  readonly ids: Set<string>;
  /** The number of this principal's unfinished tasks. */
  open: number;
}

/** The options of `MemoryTaskStore`. */
export interface MemoryTaskStoreOptions {
  /** Gives the current time in milliseconds since the epoch, for leases and the expiry of tasks. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/**
 * Keeps tasks in memory. The tasks are lost when the process ends. For tasks that survive it use a store such as `@mortise/store-sqlite`.
 *
 * Of ended tasks, 10,000 and 32 Mi characters are kept for each caller, 50,000 and 128 Mi in all. Those that ended first are deleted first.
 */
export class MemoryTaskStore implements TaskStore {
  readonly #now: () => number;
  readonly #tasks = new Map<string, Entry>();
  readonly #all: Kept = { weight: 0, ended: new Set() };
  readonly #owners = new Map<Principal, Owner>();
  /** The ids of unfinished tasks that end with their tool's handler (driver `engine`), oldest first. */
  readonly #open = new Set<string>();
  /** By owner: until when it is alive. */
  readonly #aliveUntilMs = new Map<string, number>();
  /** The time when the first task may expire, in milliseconds since the epoch: before it there is nothing to delete. */
  #nextExpiryMs = Infinity;

  constructor(options: MemoryTaskStoreOptions = {}) {
    checkOptions('MemoryTaskStore options', options, { now: 'function' });
    this.#now = options.now ?? Date.now;
  }

  /** Stores a new task. @throws {TaskLimitError} `ERR_TASK_LIMIT`: the unfinished tasks of this principal, or of all, fill the store. */
  async create(record: Omit<TaskRecord, 'version'>, { maxOpen = Infinity, leaseMs }: TaskTerms): Promise<TaskRecord | undefined> {
    const now = this.#now();
    if (this.#find(record.id)) throw new Error('A task with this id already exists: use a new id');
    this.#deleteExpired(now);
    const kept: TaskRecord = copyJson({ ...record, version: 1 });
    const { id, principal, ttlMs } = kept;
    const owner = this.#owners.get(principal) ?? { weight: 0, ended: new Set(), ids: new Set(), open: 0 };
    if (owner.open >= maxOpen) return undefined;
    const weight = weigh(kept);
    if (!this.#makeRoom(owner, weight)) throw fullError();
    this.#owners.set(principal, owner);
    owner.ids.add(id);
    const expiresAtMs = now + (ttlMs ?? Infinity);
    this.#tasks.set(id, { record: kept, steps: undefined, weight, stepsWeight: 0, expiresAtMs, heldUntilMs: now + leaseMs });
    this.#add(owner, weight);
    this.#count(owner, kept, 1);
    this.#nextExpiryMs = Math.min(this.#nextExpiryMs, expiresAtMs);
    if (kept.driver === 'engine' && !isEnded(kept.status)) this.#open.add(id);
    if (kept.owner !== undefined) this.#keepAlive(kept.owner, now + leaseMs);
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

  async delete(id: string): Promise<void> {
    const entry = this.#tasks.get(id);
    if (entry) this.#delete(entry);
  }

  async claim(id: string, owner: string, leaseMs: number): Promise<TaskClaim | undefined> {
    const entry = this.#open.has(id) ? this.#find(id) : undefined;
    if (!entry) return undefined;
    const before = entry.record.owner;
    if (before !== undefined && before !== owner && this.#isAlive(before)) return undefined;
    const now = this.#now();
    this.#keepAlive(owner, now + leaseMs);
    entry.heldUntilMs = now;
    entry.record = { ...entry.record, owner, version: entry.record.version + 1 };
    return { record: copyJson(entry.record), wasStarted: before !== undefined };
  }

  async claimOrphans(leaseMs: number, limit: number): Promise<readonly TaskRecord[]> {
    const now = this.#now();
    const orphans = [...this.#open]
      .map((id) => this.#find(id))
      .filter((entry) => entry !== undefined)
      .filter(({ record, heldUntilMs }) => heldUntilMs <= now && !(record.owner !== undefined && this.#isAlive(record.owner)))
      .sort((one, other) => byCreation(one.record, other.record))
      .slice(0, limit);
    for (const entry of orphans) entry.heldUntilMs = now + leaseMs;
    return orphans.map(({ record }) => copyJson(record));
  }

  async renew(owner: string, leaseMs: number): Promise<readonly Pick<TaskRecord, 'id' | 'version'>[]> {
    const now = this.#now();
    this.#aliveUntilMs.set(owner, now + leaseMs);
    const held: Pick<TaskRecord, 'id' | 'version'>[] = [];
    for (const id of this.#open) {
      const entry = this.#find(id);
      if (entry?.record.owner !== owner) continue;
      if (leaseMs === 0) entry.heldUntilMs = now;
      held.push({ id, version: entry.record.version });
    }
    return held;
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

  async close(): Promise<void> {
    for (const held of [this.#tasks, this.#owners, this.#open, this.#aliveUntilMs, this.#all.ended]) held.clear();
    this.#all.weight = 0;
  }

  #isAlive(owner: string): boolean {
    return (this.#aliveUntilMs.get(owner) ?? 0) > this.#now();
  }

  #keepAlive(owner: string, untilMs: number): void {
    this.#aliveUntilMs.set(owner, Math.max(untilMs, this.#aliveUntilMs.get(owner) ?? 0));
  }

  /** Deletes expired tasks, as many as do not take long. */
  #deleteExpired(nowMs: number): void {
    if (nowMs < this.#nextExpiryMs) return;
    let left = DELETED_AT_ONCE;
    let nextExpiryMs = Infinity;
    for (const entry of this.#tasks.values()) {
      if (entry.expiresAtMs > nowMs) nextExpiryMs = Math.min(nextExpiryMs, entry.expiresAtMs);
      else if (left-- === 0) return;
      else this.#delete(entry);
    }
    this.#nextExpiryMs = nextExpiryMs;
    // An owner that died long ago counts as dead without an entry.
    for (const [owner, untilMs] of this.#aliveUntilMs) if (untilMs <= nowMs) this.#aliveUntilMs.delete(owner);
  }

  #find(id: string): Entry | undefined {
    const entry = this.#tasks.get(id);
    if (!entry || entry.expiresAtMs > this.#now()) return entry;
    this.#delete(entry);
    return undefined;
  }

  #write(entry: Entry, { remove = [], ...changes }: TaskChanges): TaskRecord {
    const before = entry.record;
    const written: { -readonly [K in keyof TaskRecord]: TaskRecord[K] } = { ...before, ...changes, version: before.version + 1 };
    for (const key of remove) delete written[key];
    const after = (entry.record = written);
    const owner = this.#owners.get(after.principal) as Owner;
    if (isEnded(after.status)) {
      entry.steps = undefined;
      entry.stepsWeight = 0;
    }
    this.#setWeight(owner, entry, weigh(after) + entry.stepsWeight);
    if (after.status !== before.status) {
      if (isEnded(after.status)) {
        this.#open.delete(after.id);
        this.#makeRoom(owner, 0);
      }
      this.#count(owner, before, -1);
      this.#count(owner, after, 1);
    }
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

  /** Adds a task to the number of its status, or removes it. @param by 1 to add the task, -1 to remove it. */
  #count(owner: Owner, { id, status }: TaskRecord, by: 1 | -1): void {
    if (!isEnded(status)) {
      owner.open += by;
      return;
    }
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
