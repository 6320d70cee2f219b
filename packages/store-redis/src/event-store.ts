/**
 * The `EventStore` in Redis: a Redis stream for each stream of a session, a hash of its owner, and a sorted set of the session, which names its
 * streams by the number of their last event. The numbers are times of Redis in microseconds, each greater than the last, so that none comes twice.
 */

import type { JsonObject, JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { EventStore, EventTerms, StoredEvent, StoredStream } from '@mortise/protocol/contracts';
import { duration, list, pairs, type RedisConnection, type Script, script, tag } from './connection.ts';

/** The limits of the Redis event store. */
export interface RedisEventOptions {
  /** The most events of one stream that are kept. The oldest are dropped first. @default 1000 */
  readonly maxEventsPerStream?: number | undefined;
  /** How long events are kept, in milliseconds. @default 300_000 */
  readonly maxAgeMs?: number | undefined;
}

/** Lua for the keys of a stream. Each script's first arguments: the id of the stream, how many events are kept, and for how many milliseconds. */
const STREAM = `
local stream, owned = KEYS[1] .. ':' .. ARGV[1], KEYS[1] .. '!' .. ARGV[1]
`;

const ADD = `${STREAM}
local function add(json)
  local number = string.format('%.0f', math.max(micros, (tonumber(redis.call('ZSCORE', KEYS[1], 'last')) or 0) + 1))
  redis.call('ZADD', KEYS[1], number, 'last', number, 's' .. ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', micros - ARGV[3] * 1000)
  redis.call('XADD', stream, 'MAXLEN', ARGV[2], number .. '-1', 'm', json)
  for _, key in ipairs({stream, owned, KEYS[1]}) do redis.call('PEXPIRE', key, ARGV[3]) end
  return number
end
`;

/**
 * Further arguments: the message, the epoch ('' for none), '1' for the last event. If the owner's hash is not there, because the stream has sent
 * nothing for its time, whoever appends is its owner still.
 */
const APPEND = script(`${ADD}
local f = redis.call('HMGET', owned, 'epoch', 'finished')
if (f[1] or ARGV[5]) ~= ARGV[5] or f[2] == '1' then return false end
if ARGV[5] ~= '' then redis.call('HSET', owned, 'epoch', ARGV[5], 'finished', ARGV[6]) end
return add(ARGV[4])`);

/** Further argument: what the owner says of it ('' for nothing). The epoch is the number of the claim's event, which no earlier claim had. */
const CLAIM = script(`${ADD}
if redis.call('HGET', owned, 'finished') == '1' then return false end
if ARGV[4] ~= '' then redis.call('HSETNX', owned, 'about', ARGV[4]) end
local number = add('')
redis.call('HSET', owned, 'epoch', number)
redis.call('PEXPIRE', owned, ARGV[3])
return number`);

/** Further argument: the number of an event. Answers with the fields of the owner, and numbers and messages in turn, from that event on. */
const REPLAY = script(`${STREAM}
if tonumber(ARGV[4]) < micros - ARGV[3] * 1000 then return {} end
local reply = {redis.call('HGETALL', owned)}
for _, event in ipairs(redis.call('XRANGE', stream, ARGV[4] .. '-1', '+')) do
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
    redis.call('UNLINK', KEYS[1] .. ':' .. string.sub(name, 2), KEYS[1] .. '!' .. string.sub(name, 2))
  end
end`);

/** Keeps the events of SSE streams in Redis, so that clients can resume a stream on any machine. Has the guarantees V1 to V4 of `EventStore`. */
export class RedisEventStore implements EventStore {
  readonly #redis: RedisConnection;
  readonly #maxEvents: number;
  readonly #maxAgeMs: number;

  constructor(connection: RedisConnection, options: RedisEventOptions = {}) {
    this.#redis = connection;
    this.#maxEvents = Math.trunc(Math.min(options.maxEventsPerStream ?? 1000, Number.MAX_SAFE_INTEGER));
    this.#maxAgeMs = duration(options.maxAgeMs ?? 300_000);
  }

  async append(sessionId: string, streamId: string, message: JsonRpcMessage | undefined, terms?: EventTerms): Promise<string | undefined> {
    const json = message === undefined ? '' : JSON.stringify(message);
    const number = await this.#run(APPEND, sessionId, streamId, json, terms?.epoch ?? '', terms?.isLast === true ? 1 : 0);
    return number === null ? undefined : `${streamId}~${String(number)}`;
  }

  async claim(
    sessionId: string,
    streamId: string,
    about?: JsonObject,
  ): Promise<{ readonly epoch: number; readonly eventId: string } | undefined> {
    const number = await this.#run(CLAIM, sessionId, streamId, about === undefined ? '' : JSON.stringify(about));
    return number === null ? undefined : { epoch: Number(number), eventId: `${streamId}~${String(number)}` };
  }

  async replay(sessionId: string, lastEventId: string): Promise<StoredStream | undefined> {
    const [, streamId = '', number] = /^([^]*)~([1-9]\d{0,15})$/.exec(lastEventId) ?? [];
    if (number === undefined) return undefined;
    const [owned, ...entries] = list(await this.#run(REPLAY, sessionId, streamId, number));
    if (entries[0] !== `${number}-1`) return undefined;
    const events: StoredEvent[] = [];
    for (let n = 2; n < entries.length; n += 2) events.push(toEvent(streamId, String(entries[n]), String(entries[n + 1])));
    const fields = pairs(owned);
    const about = fields.get('about');
    return {
      streamId,
      events,
      ...(fields.size > 0 && { isFinished: fields.get('finished') === '1' }),
      ...(about !== undefined && { about: JSON.parse(about) as JsonObject }),
    };
  }

  async delete(sessionId: string, streamId?: string): Promise<void> {
    await this.#redis.run(DELETE, this.#key(sessionId), ...(streamId === undefined ? [] : [streamId]));
  }

  #run(what: Script, sessionId: string, streamId: string, ...args: readonly (string | number)[]): Promise<unknown> {
    return this.#redis.run(what, this.#key(sessionId), streamId, this.#maxEvents, this.#maxAgeMs, ...args);
  }

  #key(sessionId: string): string {
    return this.#redis.name('events', tag(sessionId));
  }
}

function toEvent(streamId: string, entryId: string, json: string): StoredEvent {
  const id = `${streamId}~${entryId.slice(0, -2)}`;
  return json === '' ? { id } : { id, message: JSON.parse(json) as JsonRpcMessage };
}
