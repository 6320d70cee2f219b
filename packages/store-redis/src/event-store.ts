/**
 * The `EventStore` in Redis: a Redis stream for each stream of a session, and a sorted set of the session, which names its
 * streams by the number of their last event. The numbers are times of Redis in microseconds, each greater than the last, so that none comes twice.
 */

import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { EventStore, StoredEvent } from '@mortise/protocol/contracts';
import { duration, list, type RedisConnection, script, tag } from './connection.ts';

/** The limits of the Redis event store. */
export interface RedisEventOptions {
  /** The most events of one stream that are kept. The oldest are dropped first. @default 1000 */
  readonly maxEventsPerStream?: number | undefined;
  /** How long events are kept, in milliseconds. @default 300_000 */
  readonly maxAgeMs?: number | undefined;
}

const APPEND = script(`
local stream = KEYS[1] .. ':' .. ARGV[1]
local number = string.format('%.0f', math.max(micros, (tonumber(redis.call('ZSCORE', KEYS[1], 'last')) or 0) + 1))
redis.call('ZADD', KEYS[1], number, 'last', number, 's' .. ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', micros - ARGV[4] * 1000)
redis.call('XADD', stream, 'MAXLEN', ARGV[3], number .. '-1', 'm', ARGV[2])
redis.call('PEXPIRE', stream, ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return number`);

/** Answers with the numbers and messages in turn, from the given event on, which shows that it is still there. */
const REPLAY = script(`
if tonumber(ARGV[2]) < micros - ARGV[3] * 1000 then return {} end
local events = redis.call('XRANGE', KEYS[1] .. ':' .. ARGV[1], ARGV[2] .. '-1', '+')
local reply = {}
for _, event in ipairs(events) do
  reply[#reply + 1] = event[1]
  reply[#reply + 1] = event[2][2]
end
return reply`);

const DELETE = script(`
local names = {}
if ARGV[1] then names = {'s' .. ARGV[1]} else names = redis.call('ZRANGE', KEYS[1], 0, -1) end
for _, name in ipairs(names) do
  if name ~= 'last' then
    redis.call('ZREM', KEYS[1], name)
    redis.call('UNLINK', KEYS[1] .. ':' .. string.sub(name, 2))
  end
end`);

/** Keeps the events of SSE streams in Redis, so that clients can resume a stream on any machine. Has the guarantees V1 to V3 of `EventStore`. */
export class RedisEventStore implements EventStore {
  readonly #redis: RedisConnection;
  readonly #maxEvents: number;
  readonly #maxAgeMs: number;

  constructor(connection: RedisConnection, options: RedisEventOptions = {}) {
    this.#redis = connection;
    this.#maxEvents = Math.trunc(Math.min(options.maxEventsPerStream ?? 1000, Number.MAX_SAFE_INTEGER));
    this.#maxAgeMs = duration(options.maxAgeMs ?? 300_000);
  }

  async append(sessionId: string, streamId: string, message: JsonRpcMessage | undefined): Promise<string> {
    const json = message === undefined ? '' : JSON.stringify(message);
    const number = await this.#redis.run(APPEND, this.#key(sessionId), streamId, json, this.#maxEvents, this.#maxAgeMs);
    return `${streamId}~${String(number)}`;
  }

  async replay(
    sessionId: string,
    lastEventId: string,
  ): Promise<{ readonly streamId: string; readonly events: readonly StoredEvent[] } | undefined> {
    const [, streamId = '', number] = /^([^]*)~([1-9]\d{0,15})$/.exec(lastEventId) ?? [];
    if (number === undefined) return undefined;
    const reply = list(await this.#redis.run(REPLAY, this.#key(sessionId), streamId, number, this.#maxAgeMs));
    if (reply[0] !== `${number}-1`) return undefined;
    const events: StoredEvent[] = [];
    for (let n = 2; n < reply.length; n += 2) events.push(toEvent(streamId, String(reply[n]), String(reply[n + 1])));
    return { streamId, events };
  }

  async delete(sessionId: string, streamId?: string): Promise<void> {
    await this.#redis.run(DELETE, this.#key(sessionId), ...(streamId === undefined ? [] : [streamId]));
  }

  #key(sessionId: string): string {
    return this.#redis.name('events', tag(sessionId));
  }
}

function toEvent(streamId: string, entryId: string, json: string): StoredEvent {
  const id = `${streamId}~${entryId.slice(0, -2)}`;
  return json === '' ? { id } : { id, message: JSON.parse(json) as JsonRpcMessage };
}
