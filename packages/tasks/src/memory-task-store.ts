/** `MemoryTaskStore`: tasks of one process, gone with it. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import type { Principal, TaskChanges, TaskPage, TaskRecord, TaskStatus, TaskStore } from '@mortise/protocol/contracts';
import { isEnded } from './engine/task-states.ts';

interface Entry {
  record: TaskRecord;
  steps: Map<string, JsonValue> | undefined;
}

/** How `MemoryTaskStore` works. */
export interface MemoryTaskStoreOptions {
  /** Says when records have expired. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/**
 * Keeps tasks in memory: for tests, for servers whose tasks need not outlive them, and for clients.
 *
 * Durable tasks need a durable store, such as `@mortise/store-sqlite`.
 */
export class MemoryTaskStore implements TaskStore {
  readonly #now: () => number;
  readonly #tasks = new Map<string, Entry>();
  /** The unfinished tasks that an engine drives, oldest first. */
  readonly #open = new Set<string>();
  /** By principal: how many tasks are in which state, so that counting costs nothing. */
  readonly #counts = new Map<Principal, Map<TaskStatus, number>>();
  /** By principal: its tasks, in the order of their creation. */
  readonly #owned = new Map<Principal, Set<string>>();
  /** Before this nothing expires. */
  #nextExpiryMs = Infinity;

  constructor(options: MemoryTaskStoreOptions = {}) {
    this.#now = options.now ?? Date.now;
  }

  create(record: Omit<TaskRecord, 'version'>): Promise<TaskRecord> {
    if (this.#tasks.has(record.id)) return Promise.reject(new Error(`There is a task with this id already`));
    const kept: TaskRecord = copyJson({ ...record, version: 1 });
    this.#tasks.set(kept.id, { record: kept, steps: undefined });
    this.#nextExpiryMs = Math.min(this.#nextExpiryMs, kept.expiresAtMs ?? Infinity);
    this.#count(kept, 1);
    this.#own(kept);
    if (kept.driver === 'engine' && !isEnded(kept.status)) this.#open.add(kept.id);
    return Promise.resolve(copyJson(kept));
  }

  get(id: string): Promise<TaskRecord | undefined> {
    const record = this.#find(id)?.record;
    return Promise.resolve(record && copyJson(record));
  }

  update(id: string, version: number, changes: TaskChanges): Promise<TaskRecord | undefined> {
    const entry = this.#find(id);
    if (!entry || entry.record.version !== version) return Promise.resolve(undefined);
    return Promise.resolve(copyJson(this.#write(entry, copyJson(changes))));
  }

  async list(
    principal: Principal,
    options: { readonly cursor?: string; readonly limit: number; readonly generation?: string },
  ): Promise<TaskPage> {
    const after = options.cursor === undefined ? undefined : parseCursor(options.cursor);
    const found = [...(this.#owned.get(principal) ?? [])]
      .map((id) => this.#find(id)?.record)
      .filter((record) => record !== undefined)
      .filter((record) => options.generation === undefined || record.generation === options.generation)
      .sort(byCreation)
      .filter((record) => after === undefined || byCreation(record, after) > 0);
    const tasks = found.slice(0, options.limit);
    const last = tasks.at(-1);
    return {
      tasks: copyJson(tasks),
      ...(last && found.length > tasks.length ? { nextCursor: `${last.createdAtMs}:${last.id}` } : {}),
    };
  }

  count(principal: Principal, statuses: readonly TaskStatus[]): Promise<number> {
    this.#deleteExpired(this.#now());
    const counts = this.#counts.get(principal);
    return Promise.resolve(statuses.reduce((sum, status) => sum + (counts?.get(status) ?? 0), 0));
  }

  lease(id: string, owner: string, untilMs: number, nowMs: number): Promise<TaskRecord | undefined> {
    const entry = this.#find(id);
    if (!entry) return Promise.resolve(undefined);
    const { lease } = entry.record;
    if (lease && lease.owner !== owner && lease.untilMs > nowMs) return Promise.resolve(undefined);
    return Promise.resolve(copyJson(this.#write(entry, { lease: { owner, untilMs } })));
  }

  listOrphans(nowMs: number, limit: number): Promise<readonly string[]> {
    const orphans: TaskRecord[] = [];
    for (const id of this.#open) {
      const record = this.#find(id)?.record;
      if (record && !(record.lease && record.lease.untilMs > nowMs)) orphans.push(record);
    }
    return Promise.resolve(
      orphans
        .sort(byCreation)
        .slice(0, limit)
        .map(({ id }) => id),
    );
  }

  getStep(id: string, key: string): Promise<{ readonly value: JsonValue } | undefined> {
    const steps = this.#find(id)?.steps;
    return Promise.resolve(steps?.has(key) ? { value: copyJson(steps.get(key) as JsonValue) } : undefined);
  }

  putStep(id: string, key: string, value: JsonValue): Promise<JsonValue> {
    const entry = this.#find(id);
    if (!entry) return Promise.reject(new Error('There is no such task, or it has expired: a step cannot be kept for it'));
    const steps = (entry.steps ??= new Map());
    if (!steps.has(key)) steps.set(key, copyJson(value));
    return Promise.resolve(copyJson(steps.get(key) as JsonValue));
  }

  deleteExpired(nowMs: number): Promise<number> {
    return Promise.resolve(this.#deleteExpired(nowMs));
  }

  close(): Promise<void> {
    for (const held of [this.#tasks, this.#open, this.#counts, this.#owned]) held.clear();
    return Promise.resolve();
  }

  #deleteExpired(nowMs: number): number {
    if (nowMs < this.#nextExpiryMs) return 0;
    let deleted = 0;
    this.#nextExpiryMs = Infinity;
    for (const { record } of this.#tasks.values()) {
      const expiresAtMs = record.expiresAtMs ?? Infinity;
      if (expiresAtMs > nowMs) this.#nextExpiryMs = Math.min(this.#nextExpiryMs, expiresAtMs);
      else {
        this.#delete(record);
        deleted++;
      }
    }
    return deleted;
  }

  #find(id: string): Entry | undefined {
    const entry = this.#tasks.get(id);
    if (!entry) return undefined;
    const { expiresAtMs } = entry.record;
    if (expiresAtMs === null || expiresAtMs > this.#now()) return entry;
    this.#delete(entry.record);
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
    this.#nextExpiryMs = Math.min(this.#nextExpiryMs, after.expiresAtMs ?? Infinity);
    if (after.status !== before.status) {
      this.#count(before, -1);
      this.#count(after, 1);
      if (isEnded(after.status)) this.#open.delete(after.id);
    }
    return after;
  }

  #delete(record: TaskRecord): void {
    this.#tasks.delete(record.id);
    this.#open.delete(record.id);
    this.#count(record, -1);
    const owned = this.#owned.get(record.principal);
    owned?.delete(record.id);
    if (owned?.size !== 0) return;
    this.#owned.delete(record.principal);
    this.#counts.delete(record.principal);
  }

  #own({ principal, id }: TaskRecord): void {
    const owned = this.#owned.get(principal);
    if (owned) owned.add(id);
    else this.#owned.set(principal, new Set([id]));
  }

  #count({ principal, status }: TaskRecord, by: number): void {
    let counts = this.#counts.get(principal);
    if (!counts) this.#counts.set(principal, (counts = new Map()));
    counts.set(status, (counts.get(status) ?? 0) + by);
  }
}

type Position = Pick<TaskRecord, 'createdAtMs' | 'id'>;

function byCreation(one: Position, other: Position): number {
  return one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

/** @throws {RangeError} Not a cursor of this store. */
function parseCursor(cursor: string): Position {
  const [, createdAtMs, id = ''] = /^(\d+):(.+)$/.exec(cursor) ?? [];
  if (createdAtMs === undefined) throw new RangeError('not a cursor of this store');
  return { createdAtMs: Number(createdAtMs), id };
}

/** Copies plain JSON data all the way down, at a fraction of what `structuredClone` costs. Members that are undefined stay so. */
function copyJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson) as T;
  const copy: Record<string, unknown> = {};
  for (const key in value) {
    // Of what was read from JSON a key may have any name.
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: copyJson(value[key]), enumerable: true, configurable: true, writable: true });
    else copy[key] = copyJson(value[key]);
  }
  return copy as T;
}
