/** The `TaskStore` in Redis. Each method is one script, see `task-scripts.ts`. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import type { TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { fromStoredText, isEnded, readTaskCursor, toStoredInteger, toTaskCursor } from '@mortise/protocol/edge';
import { list, pairs, type RedisConnection, type Script, tag } from './connection.ts';
import { RedisStoreError } from './errors.ts';
import * as scripts from './task-scripts.ts';

/** The members that a task's hash has in fields of its own, and not as JSON. */
const FIELDS: ReadonlySet<string> = new Set(['version', 'owner']);

/** Keeps tasks in Redis, for any number of machines. Has the guarantees K1 to K9 of `TaskStore`; of K9, those for one principal, in bytes. */
export function createTaskStore(redis: RedisConnection): TaskStore {
  const run = (what: Script, ...args: readonly (string | number)[]): Promise<unknown> => redis.run(what, redis.name(tag('tasks')), ...args);
  return {
    async create(record, { maxOpen = Infinity, leaseMs }) {
      const { id, principal, driver, createdAtMs, ttlMs, owner = '' } = record;
      const ttl = ttlMs === null ? '' : toStoredInteger(ttlMs);
      const state = isEnded(record) ? 'end' : driver === 'engine' ? 'run' : 'hand';
      const most = maxOpen === Infinity ? '' : maxOpen;
      const args = [id, principal, createdAtMs, ttl, state, owner, toStoredInteger(leaseMs), most, ...toFields(record)];
      const outcome = await run(scripts.CREATE, ...args);
      if (outcome === 'limit') return undefined;
      if (outcome === 'full') throw fullError();
      if (outcome === 'exists') throw new Error('a task with this id already exists: use a new id');
      return structuredClone({ ...record, version: 1 });
    },
    async get(id) {
      return toRecord(await run(scripts.GET, id));
    },
    async update(id, version, { remove = [], ...changes }) {
      const args = [isEnded(changes) ? 1 : 0, remove.length, ...remove, ...toFields(changes)];
      return toRecord(await run(scripts.UPDATE, id, version, ...args));
    },
    async delete(id) {
      await run(scripts.DELETE, id);
    },
    async list(principal, { cursor, limit }) {
      const last = readTaskCursor(cursor);
      const reply = await run(scripts.LIST, principal, last?.createdAtMs ?? '', last?.id ?? '', toStoredInteger(limit));
      const [hasMore, ...stored] = list(reply);
      const tasks = toRecords(stored);
      const end = tasks.at(-1);
      return { tasks, ...(hasMore === 1 && end && { nextCursor: toTaskCursor(end) }) };
    },
    async claim(id, owner, leaseMs) {
      const [wasStarted, stored] = list(await run(scripts.CLAIM, id, owner, toStoredInteger(leaseMs)));
      const record = toRecord(stored);
      return record && { record, wasStarted: wasStarted === 1 };
    },
    async claimOrphans(leaseMs, limit) {
      return toRecords(list(await run(scripts.CLAIM_ORPHANS, toStoredInteger(leaseMs), toStoredInteger(limit))));
    },
    async renew(owner, leaseMs) {
      const versions = pairs(await run(scripts.RENEW, owner, toStoredInteger(leaseMs)));
      return Array.from(versions, ([id, version]) => ({ id: fromStoredText(id), version: Number(version) }));
    },
    async getStep(id, key) {
      const json = await run(scripts.GET_STEP, id, key);
      return typeof json === 'string' ? { value: JSON.parse(json) as JsonValue } : undefined;
    },
    async putStep(id, key, value) {
      const stored = await run(scripts.PUT_STEP, id, key, JSON.stringify(value));
      if (stored === 0) throw new Error('the ctx.once step cannot be stored: its task does not exist or has expired');
      if (stored === 1) throw fullError();
      return JSON.parse(String(stored)) as JsonValue;
    },
    // The connection ends with the `close` of the stores.
    close: () => Promise.resolve(),
  };
}

function fullError(): RedisStoreError {
  return new RedisStoreError('ERR_TASK_LIMIT', 'the task store is full of unfinished tasks: wait for some of them, or cancel them');
}

/** Converts members of a record to names and values of a hash. */
function toFields(record: Partial<TaskRecord>): string[] {
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
  const own = { version: Number(fields.get('V')), ...(owner !== undefined && { owner: fromStoredText(owner) }) };
  return { ...Object.fromEntries(members), ...own } as unknown as TaskRecord;
}

function toRecords(replies: readonly unknown[]): readonly TaskRecord[] {
  return replies.flatMap((reply) => toRecord(reply) ?? []);
}
