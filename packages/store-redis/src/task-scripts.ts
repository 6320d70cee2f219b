/**
 * The scripts of the task store. All its keys begin with `KEYS[1]`, which has a hash tag: in a cluster they are on one machine.
 *
 * | key | what |
 * |---|---|
 * | `task:<id>` | hash: each member of the record as JSON under its name, and in capitals what scripts read |
 * | `steps:<id>` | hash: the steps of `ctx.once` |
 * | `of:<principal>` | the tasks of a principal, by creation |
 * | `open:<principal>` | its unfinished tasks, by expiry |
 * | `ended:<principal>` | its ended tasks, by the time they ended |
 * | `sums` | hash: how many ended tasks (`e`) and bytes (`c`) each principal has |
 * | `expiry` | tasks that expire, by when |
 * | `owners` | owners, by until when they are alive |
 * | `owned:<owner>` | the unfinished tasks that an owner holds, by creation |
 * | `held:<owner>` | hash: the versions of these tasks, so that a renewal need not look at each |
 * | `waiting` | unfinished tasks that nobody holds, by when they become orphans |
 * | `orphans` | orphans that were waiting, by creation |
 *
 * Capitals in a task's hash: I id, V version, O owner, P principal, C time of creation, X expiry ('' for none), Z bytes of the record,
 * W bytes of the steps, S: `run` (unfinished, for the engine), `hand` (unfinished, completed by the program) or `end`.
 */

import { TASK_BOUNDS } from '@mortise/protocol/edge';
import { script, type Script } from './connection.ts';

/** The most tasks that one script moves, so that none keeps Redis from others for long. */
const MOST_AT_ONCE = 1000;
/** The most expired tasks that one `create` deletes. */
const EXPIRED_AT_ONCE = 100;

const PRELUDE = `
local function key(...) return KEYS[1] .. ':' .. table.concat({...}, ':') end

local function count(principal, ended, bytes)
  local e, c = 'e' .. principal, 'c' .. principal
  redis.call('HINCRBY', key('sums'), e, ended)
  if redis.call('HINCRBY', key('sums'), c, bytes) <= 0 then redis.call('HDEL', key('sums'), e, c) end
end

local function release(id, owner)
  redis.call('ZREM', key('waiting'), id)
  redis.call('ZREM', key('orphans'), id)
  if owner then
    redis.call('ZREM', key('owned', owner), id)
    redis.call('HDEL', key('held', owner), id)
  end
end

local function forget(id)
  local f = redis.call('HMGET', key('task', id), 'P', 'O', 'S', 'Z', 'W')
  if not f[1] then return end
  release(id, f[2])
  for _, name in ipairs({'of', 'open', 'ended'}) do redis.call('ZREM', key(name, f[1]), id) end
  redis.call('ZREM', key('expiry'), id)
  count(f[1], f[3] == 'end' and -1 or 0, -f[4] - (f[5] or 0))
  redis.call('UNLINK', key('task', id), key('steps', id))
end

-- Values of a task's hash, for the given names; nil if there is no such task, or it has expired.
local function find(id, ...)
  local f = redis.call('HMGET', key('task', id), 'X', ...)
  if not f[1] then return nil end
  if f[1] ~= '' and tonumber(f[1]) <= now then
    forget(id)
    return nil
  end
  table.remove(f, 1)
  return f
end

-- Deletes some of the tasks that have expired.
local function forgetExpired()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', key('expiry'), '-inf', now, 'LIMIT', 0, ${EXPIRED_AT_ONCE})) do forget(id) end
end

local function all(id) return redis.call('HGETALL', key('task', id)) end

-- Deletes tasks of a principal that ended until there is room for this many more ended tasks and bytes. False if unfinished tasks take the room.
local function room(principal, more, bytes)
  while true do
    local f = redis.call('HMGET', key('sums'), 'e' .. principal, 'c' .. principal)
    if (tonumber(f[1]) or 0) + more <= ${TASK_BOUNDS.each.maxEnded} and (tonumber(f[2]) or 0) + bytes <= ${TASK_BOUNDS.each.maxCharacters} then return true end
    local first = redis.call('ZRANGE', key('ended', principal), 0, 0)[1]
    if not first then return false end
    forget(first)
  end
end

local function isAlive(owner) return (tonumber(redis.call('ZSCORE', key('owners'), owner)) or 0) > now end
local function keepAlive(owner, leaseMs) redis.call('ZADD', key('owners'), 'GT', now + leaseMs, owner) end

local function own(id, owner, created, leaseMs, version)
  redis.call('ZADD', key('owned', owner), created, id)
  redis.call('HSET', key('held', owner), id, version)
  keepAlive(owner, leaseMs)
end

local function markEnded(id, principal) redis.call('ZADD', key('ended', principal), micros, id) end
`;

function taskScript(lua: string): Script {
  return script(PRELUDE + lua);
}

/** id, principal, created, time to live ('' for none), S, owner ('' for none), lease, most open ('' for no limit), then names and values. */
export const CREATE: Script = taskScript(`
local id, principal, created, ttl, state, owner, lease, most = unpack(ARGV, 1, 8)
forgetExpired()
if find(id) then return 'exists' end
if most ~= '' and redis.call('ZCOUNT', key('open', principal), '(' .. string.format('%.0f', now), '+inf') >= tonumber(most) then return 'limit' end
local bytes = 0
for n = 9, #ARGV do bytes = bytes + #ARGV[n] end
if not room(principal, state == 'end' and 1 or 0, bytes) then return 'full' end
local expiry = ttl == '' and '' or string.format('%.0f', now + ttl)
redis.call('HSET', key('task', id), 'I', id, 'V', 1, 'P', principal, 'C', created, 'X', expiry, 'Z', bytes, 'S', state, unpack(ARGV, 9))
if owner ~= '' then redis.call('HSET', key('task', id), 'O', owner) end
count(principal, state == 'end' and 1 or 0, bytes)
redis.call('ZADD', key('of', principal), created, id)
if expiry ~= '' then redis.call('ZADD', key('expiry'), expiry, id) end
if state == 'end' then markEnded(id, principal)
else redis.call('ZADD', key('open', principal), expiry == '' and '+inf' or expiry, id) end
if state == 'run' and owner ~= '' then own(id, owner, created, lease, 1)
elseif state == 'run' then redis.call('ZADD', key('waiting'), now + lease, id) end
return 'created'`);

export const GET: Script = taskScript(`return find(ARGV[1]) and all(ARGV[1]) or {}`);

/** id, version, whether it ends ('1'), how many names are removed, these, then names and values. */
export const UPDATE: Script = taskScript(`
local id = ARGV[1]
local f = find(id, 'V', 'P', 'S', 'O')
if not f or f[1] ~= ARGV[2] then return {} end
local bytes, last = 0, 4 + tonumber(ARGV[4])
local function without(name)
  local length = redis.call('HSTRLEN', key('task', id), name)
  if length > 0 then bytes = bytes - length - #name end
end
for n = 5, last do without(ARGV[n]) end
for n = last + 1, #ARGV, 2 do
  without(ARGV[n])
  bytes = bytes + #ARGV[n] + #ARGV[n + 1]
end
local isEnding = ARGV[3] == '1' and f[3] ~= 'end'
-- A result is stored in any case: it takes the place of tasks that ended before.
if isEnding then room(f[2], 1, bytes) end
if last > 4 then redis.call('HDEL', key('task', id), unpack(ARGV, 5, last)) end
if #ARGV > last then redis.call('HSET', key('task', id), unpack(ARGV, last + 1)) end
local version = redis.call('HINCRBY', key('task', id), 'V', 1)
if f[4] and redis.call('HEXISTS', key('held', f[4]), id) == 1 then redis.call('HSET', key('held', f[4]), id, version) end
redis.call('HINCRBY', key('task', id), 'Z', bytes)
count(f[2], isEnding and 1 or 0, bytes)
if isEnding then
  redis.call('HSET', key('task', id), 'S', 'end')
  redis.call('ZREM', key('open', f[2]), id)
  release(id, f[4])
  markEnded(id, f[2])
end
return all(id)`);

export const DELETE: Script = taskScript(`forget(ARGV[1])`);

/** principal, created ('' for the first page) and id of the last task of the page before, limit. Answers whether more follow, and tasks. */
export const LIST: Script = taskScript(`
local of, created, id, limit = key('of', ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])
local start = 0
if created ~= '' then
  -- The place of the last task: that task may be gone, so it is added for a moment.
  local stored = tonumber(redis.call('ZSCORE', of, id))
  redis.call('ZADD', of, created, id)
  start = redis.call('ZRANK', of, id)
  if stored then redis.call('ZADD', of, stored, id) else redis.call('ZREM', of, id) end
  if stored and stored <= tonumber(created) then start = start + 1 end
end
local found = {}
while #found <= limit do
  local ids = redis.call('ZRANGE', of, start, start + 99)
  if #ids == 0 then break end
  for _, each in ipairs(ids) do
    if find(each) then
      start = start + 1
      found[#found + 1] = each
      if #found > limit then break end
    end
  end
end
local reply = {#found > limit and 1 or 0}
for n = 1, math.min(#found, limit) do reply[n + 1] = all(found[n]) end
return reply`);

/** id, owner, lease. Answers whether the task had an owner before, and the task. */
export const CLAIM: Script = taskScript(`
local id, owner = ARGV[1], ARGV[2]
local f = find(id, 'S', 'O', 'C')
if not f or f[1] ~= 'run' then return {} end
local before = f[2]
if before and before ~= owner and redis.call('ZSCORE', key('owned', before), id) and isAlive(before) then return {} end
release(id, before)
redis.call('HSET', key('task', id), 'O', owner)
own(id, owner, f[3], ARGV[3], redis.call('HINCRBY', key('task', id), 'V', 1))
return {before and 1 or 0, all(id)}`);

/** lease, limit. What is given out is waiting again, and its last owner does not hold it any more. */
export const CLAIM_ORPHANS: Script = taskScript(`
local lease, limit = ARGV[1], math.min(tonumber(ARGV[2]), ${MOST_AT_ONCE})
for _, id in ipairs(redis.call('ZRANGEBYSCORE', key('waiting'), '-inf', now, 'LIMIT', 0, ${MOST_AT_ONCE})) do
  local f = find(id, 'C')
  redis.call('ZREM', key('waiting'), id)
  if f then redis.call('ZADD', key('orphans'), f[1], id) end
end
local candidates = {}
local function gather(from)
  local flat = redis.call('ZRANGE', from, 0, limit - 1, 'WITHSCORES')
  for n = 1, #flat, 2 do candidates[#candidates + 1] = {tonumber(flat[n + 1]), flat[n]} end
  return #flat
end
gather(key('orphans'))
for _, owner in ipairs(redis.call('ZRANGEBYSCORE', key('owners'), '-inf', now, 'LIMIT', 0, ${MOST_AT_ONCE})) do
  if gather(key('owned', owner)) == 0 then redis.call('ZREM', key('owners'), owner) end
  if #candidates > ${10 * MOST_AT_ONCE} then break end
end
table.sort(candidates, function(a, b) return a[1] < b[1] or (a[1] == b[1] and a[2] < b[2]) end)
local reply = {}
for _, each in ipairs(candidates) do
  if #reply >= limit then break end
  local f = find(each[2], 'O')
  if f then
    release(each[2], f[1])
    redis.call('ZADD', key('waiting'), now + lease, each[2])
    reply[#reply + 1] = all(each[2])
  end
end
return reply`);

/** owner, lease. Answers ids and versions in turn. */
export const RENEW: Script = taskScript(`
local owner, lease = ARGV[1], tonumber(ARGV[2])
forgetExpired()
local reply = redis.call('HGETALL', key('held', owner))
if lease > 0 or #reply > 0 then redis.call('ZADD', key('owners'), now + lease, owner)
else redis.call('ZREM', key('owners'), owner) end
return reply`);

export const GET_STEP: Script = taskScript(`return find(ARGV[1]) and redis.call('HGET', key('steps', ARGV[1]), ARGV[2])`);

/** id, key, value. Answers with what is stored; 0 if there is no task, 1 if there is no room. */
export const PUT_STEP: Script = taskScript(`
local id, name, value = unpack(ARGV)
local f = find(id, 'P')
if not f then return 0 end
local stored = redis.call('HGET', key('steps', id), name)
if stored then return stored end
local bytes = #name + #value
if not room(f[1], 0, bytes) then return 1 end
-- Making room may have deleted this very task, if it had ended.
if not find(id) then return 0 end
redis.call('HSET', key('steps', id), name, value)
redis.call('HINCRBY', key('task', id), 'W', bytes)
count(f[1], 0, bytes)
return value`);
