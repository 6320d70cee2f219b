/** The stores in Redis that need one key for a value: for request states, used request states, and task ids of clients. */

import type { ReplayStore, StateStore, TaskHandleRecord, TaskHandleStore } from '@mortise/protocol/contracts';
import { duration, list, type RedisConnection, script } from './connection.ts';

const PUT = script(`redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`);
const GET = script(`return redis.call('GET', KEYS[1])`);
const DELETE = script(`redis.call('DEL', KEYS[1])`);
const CLAIM = script(`return redis.call('SET', KEYS[1], '', 'NX', 'PX', ARGV[1])`);
const ADD = script(`redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])`);
const REMOVE = script(`redis.call('HDEL', KEYS[1], ARGV[1])`);
const LIST = script(`return redis.call('HVALS', KEYS[1])`);

/** Keeps request states that are too long to be sent to the client in `requestState`. Has the guarantees Q1 and Q2 of `StateStore`. */
export class RedisStateStore implements StateStore {
  readonly #redis: RedisConnection;

  constructor(connection: RedisConnection) {
    this.#redis = connection;
  }

  async put(id: string, value: string, ttlMs: number): Promise<void> {
    if (ttlMs > 0) await this.#redis.run(PUT, this.#key(id), value, duration(ttlMs));
    else await this.delete(id);
  }

  async get(id: string): Promise<string | undefined> {
    const value = await this.#redis.run(GET, this.#key(id));
    return typeof value === 'string' ? value : undefined;
  }

  async delete(id: string): Promise<void> {
    await this.#redis.run(DELETE, this.#key(id));
  }

  #key(id: string): string {
    return this.#redis.name('state', id);
  }
}

/** Lets each request state (`requestState`) be used only once, on all machines together. Has the guarantees P1 and P2 of `ReplayStore`. */
export class RedisReplayStore implements ReplayStore {
  readonly #redis: RedisConnection;

  constructor(connection: RedisConnection) {
    this.#redis = connection;
  }

  async claim(id: string, ttlMs: number): Promise<boolean> {
    return (await this.#redis.run(CLAIM, this.#redis.name('claim', id), Math.max(1, duration(ttlMs)))) !== null;
  }
}

/** Keeps the ids of a client's tasks in Redis, by server. */
export class RedisTaskHandleStore implements TaskHandleStore {
  readonly #redis: RedisConnection;

  constructor(connection: RedisConnection) {
    this.#redis = connection;
  }

  async add({ server, taskId, method, createdAtMs }: TaskHandleRecord): Promise<void> {
    await this.#redis.run(ADD, this.#key(server), taskId, JSON.stringify({ server, taskId, method, createdAtMs }));
  }

  async remove(server: string, taskId: string): Promise<void> {
    await this.#redis.run(REMOVE, this.#key(server), taskId);
  }

  async list(server: string): Promise<readonly TaskHandleRecord[]> {
    return list(await this.#redis.run(LIST, this.#key(server))).map((value) => JSON.parse(String(value)) as TaskHandleRecord);
  }

  #key(server: string): string {
    return this.#redis.name('handles', server);
  }
}
