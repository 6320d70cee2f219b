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
 * | `held:<owner>` | hash: the versions of the unfinished tasks that an owner holds, so that a renewal need not look at each |
 * | `waiting` | unfinished tasks that nobody holds, by when they become orphans |
 *
 * Capitals in a task's hash: V version, O owner, P principal, X expiry ('' for none), Z bytes of the record, W bytes of the steps,
 * S: `run` (unfinished, for the engine), `hand` (unfinished, completed by the program) or `end`.
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
  if owner then redis.call('HDEL', key('held', owner), id) end
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

local function own(id, owner, leaseMs, version)
  redis.call('HSET', key('held', owner), id, version)
  redis.call('ZADD', key('owners'), 'GT', now + leaseMs, owner)
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
redis.call('HSET', key('task', id), 'V', 1, 'P', principal, 'X', expiry, 'Z', bytes, 'S', state, unpack(ARGV, 9))
if owner ~= '' then redis.call('HSET', key('task', id), 'O', owner) end
count(principal, state == 'end' and 1 or 0, bytes)
redis.call('ZADD', key('of', principal), created, id)
if expiry ~= '' then redis.call('ZADD', key('expiry'), expiry, id) end
if state == 'end' then markEnded(id, principal)
else redis.call('ZADD', key('open', principal), expiry == '' and '+inf' or expiry, id) end
if state == 'run' and owner ~= '' then own(id, owner, lease, 1)
elseif state == 'run' then redis.call('ZADD', key('waiting'), now + lease, id) end
return 'created'`);

export const GET: Script = taskScript(`return find(ARGV[1]) and all(ARGV[1]) or {}`);

/** id, version, whether it ends ('1'), how many names are removed, these, then names and values. */
export const UPDATE: Script = taskScript(`
local id, last = ARGV[1], 4 + tonumber(ARGV[4])
local f = find(id, 'V', 'P', 'S', 'O', 'Z')
if not f or f[1] ~= ARGV[2] then return {} end
if last > 4 then redis.call('HDEL', key('task', id), unpack(ARGV, 5, last)) end
if #ARGV > last then redis.call('HSET', key('task', id), unpack(ARGV, last + 1)) end
local version = redis.call('HINCRBY', key('task', id), 'V', 1)
if f[4] and redis.call('HEXISTS', key('held', f[4]), id) == 1 then redis.call('HSET', key('held', f[4]), id, version) end
local record, bytes = all(id), 0
for _, text in ipairs(record) do bytes = bytes + #text end
redis.call('HSET', key('task', id), 'Z', bytes)
local isEnding = ARGV[3] == '1' and f[3] ~= 'end'
-- A result is stored in any case: it takes the place of tasks that ended before.
if isEnding then room(f[2], 1, bytes - f[5]) end
count(f[2], isEnding and 1 or 0, bytes - f[5])
if isEnding then
  redis.call('HSET', key('task', id), 'S', 'end')
  redis.call('ZREM', key('open', f[2]), id)
  release(id, f[4])
  markEnded(id, f[2])
end
return record`);

export const DELETE: Script = taskScript(`forget(ARGV[1])`);

/** principal, created ('' for the first page) and id of the last task of the page before, limit. Answers whether more follow, and tasks. */
export const LIST: Script = taskScript(`
local of, created, id, limit = key('of', ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])
local start = 0
if created ~= '' then
  -- The place of the last task. If that task is gone, it is added for a moment.
  local stored, at = tonumber(redis.call('ZSCORE', of, id)), tonumber(created)
  if stored ~= at then redis.call('ZADD', of, created, id) end
  start = redis.call('ZRANK', of, id)
  if not stored then redis.call('ZREM', of, id)
  elseif stored ~= at then redis.call('ZADD', of, stored, id) end
  if stored and stored <= at then start = start + 1 end
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
local f = find(id, 'S', 'O')
if not f or f[1] ~= 'run' then return {} end
local before = f[2]
if before and before ~= owner and redis.call('HEXISTS', key('held', before), id) == 1 and isAlive(before) then return {} end
release(id, before)
redis.call('HSET', key('task', id), 'O', owner)
own(id, owner, ARGV[3], redis.call('HINCRBY', key('task', id), 'V', 1))
return {before and 1 or 0, all(id)}`);

/** lease, limit. What is given out is waiting again, and its last owner does not hold it any more. */
export const CLAIM_ORPHANS: Script = taskScript(`
local lease, limit = ARGV[1], math.min(tonumber(ARGV[2]), ${MOST_AT_ONCE})
local ids = redis.call('ZRANGEBYSCORE', key('waiting'), '-inf', now, 'LIMIT', 0, limit)
for _, owner in ipairs(redis.call('ZRANGEBYSCORE', key('owners'), '-inf', now, 'LIMIT', 0, ${MOST_AT_ONCE})) do
  if #ids >= limit then break end
  local held = redis.call('HRANDFIELD', key('held', owner), limit - #ids)
  if #held == 0 then redis.call('ZREM', key('owners'), owner) end
  for _, id in ipairs(held) do ids[#ids + 1] = id end
end
local reply = {}
for _, id in ipairs(ids) do
  local f = find(id, 'O')
  if f then
    release(id, f[1])
    redis.call('ZADD', key('waiting'), now + lease, id)
    reply[#reply + 1] = all(id)
  end
end
return reply`);

/** owner, lease. Answers ids and versions in turn. */
export const RENEW: Script = taskScript(`
forgetExpired()
redis.call('ZADD', key('owners'), now + ARGV[2], ARGV[1])
return redis.call('HGETALL', key('held', ARGV[1]))`);

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
