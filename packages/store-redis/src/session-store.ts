/** The `SessionStore` in Redis: a hash for each session, which Redis itself deletes when it expires. */

import type { SessionPut, SessionRecord, SessionStore } from '@mortise/protocol/contracts';
import { duration, list, pairs, type RedisConnection, script } from './connection.ts';

const GET = script(`
if redis.call('PEXPIRE', KEYS[1], ARGV[1]) == 0 then return {} end
return redis.call('HGETALL', KEYS[1])`);

const PUT = script(`
local version = redis.call('HGET', KEYS[1], 'version') or '0'
if version ~= ARGV[1] then return {0, redis.call('HGETALL', KEYS[1])} end
redis.call('HSET', KEYS[1], 'version', ARGV[1] + 1, 'principal', ARGV[3], 'state', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {1}`);

const DELETE = script(`return redis.call('DEL', KEYS[1])`);

/** Keeps sessions in Redis. Has the guarantees S1 to S4 of `SessionStore`. */
export class RedisSessionStore implements SessionStore {
  readonly #redis: RedisConnection;

  constructor(connection: RedisConnection) {
    this.#redis = connection;
  }

  async get(id: string, ttlMs: number): Promise<SessionRecord | undefined> {
    return toSession(id, await this.#redis.run(GET, this.#key(id), duration(ttlMs)));
  }

  async put({ id, principal, state }: Omit<SessionRecord, 'version'>, expectedVersion: number, ttlMs: number): Promise<SessionPut> {
    const args = [expectedVersion, duration(ttlMs), principal, JSON.stringify(state)];
    const [isWritten, stored] = list(await this.#redis.run(PUT, this.#key(id), ...args));
    if (isWritten === 1) return { isWritten: true };
    const present = toSession(id, stored);
    return { isWritten: false, ...(present && { present }) };
  }

  async delete(id: string): Promise<void> {
    await this.#redis.run(DELETE, this.#key(id));
  }

  #key(id: string): string {
    return this.#redis.name('session', id);
  }
}

function toSession(id: string, reply: unknown): SessionRecord | undefined {
  const fields = pairs(reply);
  const state = fields.get('state');
  if (state === undefined) return undefined;
  const version = Number(fields.get('version'));
  return { id, principal: fields.get('principal') ?? '', state: JSON.parse(state) as SessionRecord['state'], version };
}
