/** The `TaskStore` in Redis. Each method is one script, see `task-scripts.ts`. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import type { Principal, TaskChanges, TaskClaim, TaskPage, TaskRecord, TaskStore, TaskTerms } from '@mortise/protocol/contracts';
import { readTaskCursor, toTaskCursor } from '@mortise/protocol/edge';
import { duration, list, pairs, type RedisConnection, type Script, tag } from './connection.ts';
import { RedisStoreError } from './errors.ts';
import * as scripts from './task-scripts.ts';

type NewRecord = Omit<TaskRecord, 'version'>;

/** The members that a task's hash has in fields of its own, and not as JSON. */
const FIELDS: ReadonlySet<string> = new Set(['id', 'version', 'owner']);

/** Keeps tasks in Redis, for any number of machines. Has the guarantees K1 to K9 of `TaskStore`; of K9, bytes count as characters. */
export class RedisTaskStore implements TaskStore {
  readonly #redis: RedisConnection;
  readonly #key: string;

  constructor(connection: RedisConnection) {
    this.#redis = connection;
    this.#key = connection.name(tag('tasks'));
  }

  /** Stores a new task. @throws {RedisStoreError} `ERR_TASK_LIMIT`: the unfinished tasks of this principal, or of all, fill the store. */
  async create(record: NewRecord, { maxOpen = Infinity, leaseMs }: TaskTerms): Promise<TaskRecord | undefined> {
    const { id, principal, createdAtMs, ttlMs, owner = '' } = record;
    const outcome = await this.#run(
      scripts.CREATE,
      id,
      principal,
      createdAtMs,
      ttlMs === null ? '' : duration(ttlMs),
      isEnded(record) ? 'end' : record.driver === 'engine' ? 'run' : 'hand',
      owner,
      duration(leaseMs),
      maxOpen === Infinity ? '' : maxOpen,
      ...toFields(record),
    );
    if (outcome === 'limit') return undefined;
    if (outcome === 'full') throw fullError();
    if (outcome === 'exists') throw new Error('a task with this id already exists: use a new id');
    return structuredClone({ ...record, version: 1 });
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    return toRecord(await this.#run(scripts.GET, id));
  }

  async update(id: string, version: number, { remove = [], ...changes }: TaskChanges): Promise<TaskRecord | undefined> {
    const isEnding = changes.status !== undefined && isEnded({ status: changes.status });
    const args = [isEnding ? 1 : 0, remove.length, ...remove, ...toFields(changes)];
    return toRecord(await this.#run(scripts.UPDATE, id, version, ...args));
  }

  async delete(id: string): Promise<void> {
    await this.#run(scripts.DELETE, id);
  }

  async list(principal: Principal, options: { readonly cursor?: string; readonly limit: number }): Promise<TaskPage> {
    const last = readTaskCursor(options.cursor);
    const reply = await this.#run(scripts.LIST, principal, last?.createdAtMs ?? '', last?.id ?? '', duration(options.limit));
    const [hasMore, ...stored] = list(reply);
    const tasks = toRecords(stored);
    const end = tasks.at(-1);
    return { tasks, ...(hasMore === 1 && end && { nextCursor: toTaskCursor(end) }) };
  }

  async claim(id: string, owner: string, leaseMs: number): Promise<TaskClaim | undefined> {
    const [wasStarted, stored] = list(await this.#run(scripts.CLAIM, id, owner, duration(leaseMs)));
    const record = toRecord(stored);
    return record && { record, wasStarted: wasStarted === 1 };
  }

  async claimOrphans(leaseMs: number, limit: number): Promise<readonly TaskRecord[]> {
    return toRecords(list(await this.#run(scripts.CLAIM_ORPHANS, duration(leaseMs), duration(limit))));
  }

  async renew(owner: string, leaseMs: number): Promise<readonly Pick<TaskRecord, 'id' | 'version'>[]> {
    const versions = pairs(await this.#run(scripts.RENEW, owner, duration(leaseMs)));
    return Array.from(versions, ([id, version]) => ({ id, version: Number(version) }));
  }

  async getStep(id: string, key: string): Promise<{ readonly value: JsonValue } | undefined> {
    const json = await this.#run(scripts.GET_STEP, id, key);
    return typeof json === 'string' ? { value: JSON.parse(json) as JsonValue } : undefined;
  }

  async putStep(id: string, key: string, value: JsonValue): Promise<JsonValue> {
    const stored = await this.#run(scripts.PUT_STEP, id, key, JSON.stringify(value));
    if (stored === 0) throw new Error('the ctx.once step cannot be stored: its task does not exist or has expired');
    if (stored === 1) throw fullError();
    return JSON.parse(String(stored)) as JsonValue;
  }

  /** Does nothing. To close the connection, call the `close` of `RedisStores`. */
  async close(): Promise<void> {
    return undefined;
  }

  #run(what: Script, ...args: readonly (string | number)[]): Promise<unknown> {
    return this.#redis.run(what, this.#key, ...args);
  }
}

function isEnded({ status }: Pick<TaskRecord, 'status'>): boolean {
  return status !== 'working' && status !== 'input_required';
}

function fullError(): RedisStoreError {
  return new RedisStoreError('ERR_TASK_LIMIT', 'the task store is full of unfinished tasks: wait for some of them, or cancel them');
}

/** Converts members of a record to names and values of a hash. */
function toFields(record: Partial<NewRecord>): string[] {
  const members = Object.entries(record).filter(([name, value]) => value !== undefined && !FIELDS.has(name));
  return members.flatMap(([name, value]) => [name, JSON.stringify(value)]);
}

function toRecord(reply: unknown): TaskRecord | undefined {
  const fields = pairs(reply);
  if (fields.size === 0) return undefined;
  const members = [...fields]
    .filter(([name]) => !/^[A-Z]$/.test(name))
    .map(([name, json]) => [name, JSON.parse(json) as JsonValue] as const);
  const owner = fields.get('O');
  const own = { id: fields.get('I'), version: Number(fields.get('V')), ...(owner !== undefined && { owner }) };
  return { ...Object.fromEntries(members), ...own } as unknown as TaskRecord;
}

function toRecords(replies: readonly unknown[]): readonly TaskRecord[] {
  return replies.flatMap((reply) => toRecord(reply) ?? []);
}
