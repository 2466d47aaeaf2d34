-- What the scripts share. KEYS[1] is the prefix of the crawl's keys (see keys.py).

local P = KEYS[1]

local place = 0
local function argument()
  place = place + 1
  return ARGV[place]
end

local function number()
  return tonumber(argument())
end

-- Seconds of the epoch, by Redis' clock unless somebody says what time it is.
local function clock(given)
  if given ~= '' then
    return tonumber(given)
  end
  local time = redis.call('TIME')
  return tonumber(time[1]) + tonumber(time[2]) / 1000000
end

-- Lua would leave out all but 14 digits.
local function written(moment)
  return string.format('%.6f', moment)
end

local NEVER = -1e15

-- Which bucket a fingerprint is in, as index.py has it.
local function bucket_of(mark, buckets)
  local a, b, c, d = string.byte(mark, 1, 4)
  local hash = a + b * 256 + c * 65536 + d * 16777216
  local level = 1
  while level * 2 <= buckets do
    level = level * 2
  end
  local bucket = hash % (level * 2)
  if bucket >= buckets then
    bucket = hash % level
  end
  return string.format('%d', bucket)
end

-- Put a host among those that may be asked when their time has come, or take it out.
local function settle(host)
  local state = redis.call('HMGET', P .. 'h:' .. host, 'cap', 'out', 'ready_at')
  local free = (tonumber(state[1]) or 1) - (tonumber(state[2]) or 0)
  if free > 0 and redis.call('ZCARD', P .. 'q:' .. host) > 0 then
    redis.call('ZADD', P .. 'ready', state[3] or NEVER, host)
  else
    redis.call('ZREM', P .. 'ready', host)
  end
end

-- An item is its place in the queue, a space, and what a worker has to know.
local function score_of(item)
  return tonumber(string.match(item, '^(%-?%d+) '))
end

-- Queue a URL again that was leased. What is no open URL any more is forgotten.
local function requeue(id, host)
  local item = redis.call('HGET', P .. 'items', id)
  local score = item and score_of(item)
  if score then
    redis.call('ZADD', P .. 'q:' .. host, score, id)
  end
end

-- Give slots back; the host is not asked before a time.
local function free_slots(host, slots, ready_at)
  local key = P .. 'h:' .. host
  -- Not '-slots': of none it would be -0, which is no integer to Redis.
  if redis.call('HINCRBY', key, 'out', 0 - slots) < 0 then
    redis.call('HSET', key, 'out', 0)
  end
  if ready_at > (tonumber(redis.call('HGET', key, 'ready_at')) or NEVER) then
    redis.call('HSET', key, 'ready_at', written(ready_at))
  end
end

-- End a worker's session: all that it has returns. Its last request ended at a time, at most.
local function end_session(worker, ended_at)
  local leases = redis.call('HGETALL', P .. 'l:' .. worker)
  for i = 1, #leases, 2 do
    requeue(leases[i], leases[i + 1])
  end
  local slots = redis.call('HGETALL', P .. 's:' .. worker)
  for i = 1, #slots, 2 do
    local delay = tonumber(redis.call('HGET', P .. 'h:' .. slots[i], 'delay')) or 0
    free_slots(slots[i], tonumber(slots[i + 1]) or 0, ended_at + delay)
  end
  redis.call('DEL', P .. 'l:' .. worker, P .. 's:' .. worker)
  redis.call('ZREM', P .. 'workers', worker)
  redis.call('ZREM', P .. 'hungry', worker)
  for i = 1, #leases, 2 do
    settle(leases[i + 1])
  end
  for i = 1, #slots, 2 do
    settle(slots[i])
  end
  if string.find(redis.call('GET', P .. 'committer') or '', worker .. ' ', 1, true) == 1 then
    redis.call('DEL', P .. 'committer')
  end
end
