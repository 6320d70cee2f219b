/** The stores in Redis that need one key for a value: for sessions, request states, used request states, and task ids of clients. */

import type { ReplayStore, SessionRecord, SessionStore, StateStore, TaskHandleRecord, TaskHandleStore } from '@mortise/protocol/contracts';
import { toStoredInteger } from '@mortise/protocol/edge';
import { list, type RedisConnection, script } from './connection.ts';

const DELETE = script(`redis.call('DEL', KEYS[1])`);

const GET_SESSION = script(`
if redis.call('PEXPIRE', KEYS[1], ARGV[1]) == 0 then return {} end
return redis.call('HMGET', KEYS[1], 'version', 'record')`);

/** Answers with what is stored if that has another version. */
const PUT_SESSION = script(`
local stored = redis.call('HMGET', KEYS[1], 'version', 'record')
if (stored[1] or '0') ~= ARGV[1] then return stored end
redis.call('HSET', KEYS[1], 'version', ARGV[1] + 1, 'record', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])`);

/** Keeps sessions in Redis, which deletes them when they expire. Has the guarantees S1 to S4 of `SessionStore`. */
export function createSessionStore(redis: RedisConnection): SessionStore {
  const key = (id: string): string => redis.name('session', id);
  return {
    async get(id, ttlMs) {
      return toSession(id, await redis.run(GET_SESSION, key(id), toStoredInteger(ttlMs)));
    },
    async put({ id, principal, state }, expectedVersion, ttlMs) {
      const stored = await redis.run(PUT_SESSION, key(id), expectedVersion, toStoredInteger(ttlMs), JSON.stringify({ principal, state }));
      return stored === null ? { isWritten: true } : { isWritten: false, present: toSession(id, stored) };
    },
    async delete(id) {
      await redis.run(DELETE, key(id));
    },
  };
}

function toSession(id: string, reply: unknown): SessionRecord | undefined {
  const [version, record] = list(reply);
  if (typeof record !== 'string') return undefined;
  return { id, ...(JSON.parse(record) as Pick<SessionRecord, 'principal' | 'state'>), version: Number(version) };
}

const PUT_STATE = script(`redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`);
const GET_STATE = script(`return redis.call('GET', KEYS[1])`);

/** Keeps request states that are too long to be sent to the client in `requestState`. Has the guarantees Q1 and Q2 of `StateStore`. */
export function createStateStore(redis: RedisConnection): StateStore {
  const key = (id: string): string => redis.name('state', id);
  const remove = async (id: string): Promise<void> => void (await redis.run(DELETE, key(id)));
  return {
    async put(id, value, ttlMs) {
      if (ttlMs > 0) await redis.run(PUT_STATE, key(id), JSON.stringify(value), toStoredInteger(ttlMs));
      else await remove(id);
    },
    async get(id) {
      const value = await redis.run(GET_STATE, key(id));
      return typeof value === 'string' ? (JSON.parse(value) as string) : undefined;
    },
    delete: remove,
  };
}

const CLAIM = script(`return redis.call('SET', KEYS[1], '', 'NX', 'PX', ARGV[1])`);

/** Lets each request state (`requestState`) be used only once, on all machines together. Has the guarantees P1 and P2 of `ReplayStore`. */
export function createReplayStore(redis: RedisConnection): ReplayStore {
  return {
    async claim(id, ttlMs) {
      return (await redis.run(CLAIM, redis.name('claim', id), Math.max(1, toStoredInteger(ttlMs)))) !== null;
    },
  };
}

const ADD_HANDLE = script(`redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])`);
const REMOVE_HANDLE = script(`redis.call('HDEL', KEYS[1], ARGV[1])`);
const LIST_HANDLES = script(`return redis.call('HVALS', KEYS[1])`);

/** Keeps the ids of a client's tasks in Redis, by server. */
export function createTaskHandleStore(redis: RedisConnection): TaskHandleStore {
  const key = (server: string): string => redis.name('handles', server);
  return {
    async add({ server, taskId, method, createdAtMs }) {
      await redis.run(ADD_HANDLE, key(server), taskId, JSON.stringify({ server, taskId, method, createdAtMs }));
    },
    async remove(server, taskId) {
      await redis.run(REMOVE_HANDLE, key(server), taskId);
    },
    async list(server) {
      return list(await redis.run(LIST_HANDLES, key(server))).map((value) => JSON.parse(String(value)) as TaskHandleRecord);
    },
  };
}
