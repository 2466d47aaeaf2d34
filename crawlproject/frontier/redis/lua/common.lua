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

-- Commands that fail for a key of another type, before anything is done.
local SIZES = {hash = 'HLEN', list = 'LLEN', set = 'SCARD', zset = 'ZCARD', string = 'STRLEN'}
local function check(kind, ...)
  for _, name in ipairs({...}) do
    redis.call(SIZES[kind], P .. name)
  end
end

-- A number that somebody else may have written.
local function finite(text, otherwise)
  local value = tonumber(text)
  if value and value > -1e16 and value < 1e16 then
    return value
  end
  return otherwise
end

-- Put a host among those that may be asked when their time has come, or take it out.
local function settle(host)
  local state = redis.call('HMGET', P .. 'h:' .. host, 'cap', 'out', 'ready_at')
  local free = finite(state[1], 1) - finite(state[2], 0)
  if free > 0 and redis.call('ZCARD', P .. 'q:' .. host) > 0 then
    redis.call('ZADD', P .. 'ready', written(finite(state[3], NEVER)), host)
  else
    redis.call('ZREM', P .. 'ready', host)
  end
end

-- An item is its place in the queue, a space, and what a worker has to know.
local function score_of(item)
  return finite(string.match(item, '^(%-?%d+) '))
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
  local out = finite(redis.call('HGET', key, 'out'), 0) - slots
  redis.call('HSET', key, 'out', string.format('%d', math.max(0, out)))
  if ready_at > finite(redis.call('HGET', key, 'ready_at'), NEVER) then
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
    local delay = finite(redis.call('HGET', P .. 'h:' .. slots[i], 'delay'), 0)
    free_slots(slots[i], finite(slots[i + 1], 0), ended_at + delay)
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
