/**
 * The `EventStore` in Redis: a Redis stream for each stream of a session, a hash of its owner, and a sorted set of the session, which names its
 * streams by the number of their last event. The numbers are times of Redis in microseconds, each greater than the last, so that none comes twice.
 */

import type { JsonObject, JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { EventStore, StoredEvent } from '@mortise/protocol/contracts';
import { toStoredInteger } from '@mortise/protocol/edge';
import { list, type RedisConnection, type Script, script, tag } from './connection.ts';

/** The limits of the Redis event store. */
export interface RedisEventOptions {
  /** The most events of one stream that are kept. The oldest are dropped first. @default 1000 */
  readonly maxEventsPerStream?: number | undefined;
  /** How long events are kept, in milliseconds. @default 300_000 */
  readonly maxAgeMs?: number | undefined;
}

/** The most bytes of a stream that are kept, beside its last event: resuming a stream reads it in one step, for which all others wait. */
const MAX_STREAM_BYTES = 16 * 2 ** 20;

/** The most bytes of all streams of a session that are kept. The streams that have been silent longest are dropped, until half is left. */
const MAX_SESSION_BYTES = 64 * 2 ** 20;

/** Lua for the keys of a stream. Each script's first arguments: the id of the stream, how many events are kept, and for how many milliseconds. */
const STREAM = `
local stream, owned = KEYS[1] .. ':' .. ARGV[1], KEYS[1] .. '!' .. ARGV[1]
`;

const ADD = `${STREAM}
local total = KEYS[1] .. '#'

local function makeRoom()
  local bytes = 0
  for _, name in ipairs(redis.call('ZREVRANGE', KEYS[1], 0, -1)) do
    local id = string.sub(name, 2)
    local of = tonumber(redis.call('HGET', KEYS[1] .. '!' .. id, 'bytes')) or 0
    if id == ARGV[1] or bytes + of <= ${MAX_SESSION_BYTES / 2} then bytes = bytes + of
    else
      redis.call('ZREM', KEYS[1], name)
      redis.call('UNLINK', KEYS[1] .. ':' .. id, KEYS[1] .. '!' .. id)
    end
  end
  redis.call('SET', total, bytes)
end

local function add(json)
  local number = string.format('%.0f', math.max(micros, (tonumber(redis.call('ZSCORE', KEYS[1], 'last')) or 0) + 1))
  redis.call('ZADD', KEYS[1], number, 'last', number, 's' .. ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', micros - ARGV[3] * 1000)
  redis.call('XADD', stream, number .. '-1', 'm', json)
  local length, bytes = redis.call('XLEN', stream), redis.call('HINCRBY', owned, 'bytes', #json)
  while length > 1 and (length > tonumber(ARGV[2]) or bytes - #json > ${MAX_STREAM_BYTES}) do
    local first = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
    redis.call('XDEL', stream, first[1])
    length, bytes = length - 1, redis.call('HINCRBY', owned, 'bytes', -#first[2][2])
  end
  if redis.call('INCRBY', total, #json) > ${MAX_SESSION_BYTES} then makeRoom() end
  for _, key in ipairs({stream, owned, KEYS[1], total}) do redis.call('PEXPIRE', key, ARGV[3]) end
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
return number`);

/** Further argument: the number of an event. Answers with what the owner's hash has, and the entries from that event on. */
const REPLAY = script(`${STREAM}
if tonumber(ARGV[4]) < micros - ARGV[3] * 1000 then return {} end
return {redis.call('HMGET', owned, 'epoch', 'finished', 'about'), redis.call('XRANGE', stream, ARGV[4] .. '-1', '+')}`);

const DELETE = script(`
local names = {}
if ARGV[1] then names = {'s' .. ARGV[1]}
else
  names = redis.call('ZRANGE', KEYS[1], 0, -1)
  redis.call('UNLINK', KEYS[1] .. '#')
end
for _, name in ipairs(names) do
  if name ~= 'last' then
    redis.call('ZREM', KEYS[1], name)
    redis.call('UNLINK', KEYS[1] .. ':' .. string.sub(name, 2), KEYS[1] .. '!' .. string.sub(name, 2))
  end
end`);

/** Keeps the events of SSE streams in Redis, so that clients can resume a stream on any machine. Has the guarantees V1 to V4 of `EventStore`. */
export function createEventStore(redis: RedisConnection, options: RedisEventOptions = {}): EventStore {
  const maxEvents = Math.trunc(Math.min(options.maxEventsPerStream ?? 1000, Number.MAX_SAFE_INTEGER));
  const maxAgeMs = toStoredInteger(options.maxAgeMs ?? 300_000);
  const key = (sessionId: string): string => redis.name('events', tag(sessionId));
  const run = (what: Script, sessionId: string, streamId: string, ...args: readonly (string | number)[]): Promise<unknown> =>
    redis.run(what, key(sessionId), streamId, maxEvents, maxAgeMs, ...args);
  return {
    async append(sessionId, streamId, message, terms) {
      const json = message === undefined ? '' : JSON.stringify(message);
      const number = await run(APPEND, sessionId, streamId, json, terms?.epoch ?? '', terms?.isLast === true ? 1 : 0);
      return number === null ? undefined : toId(streamId, number);
    },
    async claim(sessionId, streamId, about) {
      const number = await run(CLAIM, sessionId, streamId, about === undefined ? '' : JSON.stringify(about));
      return number === null ? undefined : { epoch: Number(number), eventId: toId(streamId, number) };
    },
    async replay(sessionId, lastEventId) {
      const [, streamId = '', number] = /^([^]*)~([1-9]\d{0,15})$/.exec(lastEventId) ?? [];
      if (number === undefined) return undefined;
      const [owned, entries] = list(await run(REPLAY, sessionId, streamId, number));
      const [given, ...events] = list(entries).map((entry) => toEvent(streamId, entry));
      if (given?.id !== lastEventId) return undefined;
      const [epoch, finished, about] = list(owned);
      return {
        streamId,
        events,
        ...(typeof epoch === 'string' && { isFinished: finished === '1' }),
        ...(typeof about === 'string' && { about: JSON.parse(about) as JsonObject }),
      };
    },
    async delete(sessionId, streamId) {
      await redis.run(DELETE, key(sessionId), ...(streamId === undefined ? [] : [streamId]));
    },
  };
}

function toId(streamId: string, number: unknown): string {
  return `${streamId}~${String(number)}`;
}

/** Converts an entry of a Redis stream: its id, then names and values in turn. */
function toEvent(streamId: string, entry: unknown): StoredEvent {
  const [place, values] = list(entry);
  const id = toId(streamId, String(place).slice(0, -2));
  const json = String(list(values)[1]);
  return json === '' ? { id } : { id, message: JSON.parse(json) as JsonRpcMessage };
}
