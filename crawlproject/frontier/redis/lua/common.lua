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

-- The queue of a host for what has a place in it: what is visited again has one below 0.
local function queue_for(host, score)
  return P .. (tonumber(score) < 0 and 'r:' or 'q:') .. host
end

-- Put a host among those that may be asked when their time has come, or take it out.
local function settle(host)
  local state = redis.call('HMGET', P .. 'h:' .. host, 'cap', 'out', 'ready_at')
  local free = finite(state[1], 1) - finite(state[2], 0)
  local queued = redis.call('ZCARD', P .. 'q:' .. host) + redis.call('ZCARD', P .. 'r:' .. host)
  if free > 0 and queued > 0 then
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
    redis.call('ZADD', queue_for(host, score), score, id)
  end
end

-- Give slots back; the host is not asked before a time.
local function free_slots(host, slots, ready_at)
  local key = P .. 'h:' .. host
  local out = finite(redis.call('HGET', key, 'out'), 0) - slots
  redis.call('HSET', key, 'out', string.format('%d', math.max(0, out)))
  if out <= 0 then
    redis.call('HDEL', key, 'sole')
  end
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

-- The changes of a commit: how many messages of the inbox are done, and then commands, each as its
-- length and its words:
--   'offer', JSON: URLs that may be taken, each as is_new ('0': unless it has answered), id, host,
--     score, item, pause, spacing, cap, throttle, delay
--   'index', buckets, ids of fingerprints: eight bytes and four bytes, one after the other
--   'withdraw', id, host: one that may not be taken any more
--   any other: as Redis knows it, with the key without its prefix as the second word.

local hosts = {}
local function offer(id, host, score, item, pause, spacing, cap, throttle, delay)
  redis.call('HSET', P .. 'items', id, score .. ' ' .. item)
  if redis.call('SADD', P .. 'hosts', host) == 1 then
    redis.call(
      'HSET', P .. 'h:' .. host, 'delay', pause, 'spacing', spacing, 'cap', cap,
      'throttled', throttle, 'out', 0, 'set_delay', delay
    )
  end
  redis.call('ZADD', queue_for(host, score), score, id)
  hosts[host] = true
end

local function update(id, host, score, item)
  if redis.call('HEXISTS', P .. 'items', id) == 1 then
    redis.call('HSET', P .. 'items', id, score .. ' ' .. item)
    -- A worker may have it, or it waits for its time: then it is not in the queue.
    redis.call('ZADD', queue_for(host, score), 'XX', score, id)
  end
end

local function index(buckets, marks)
  for i = 1, #marks, 12 do
    local mark = string.sub(marks, i, i + 7)
    local id = struct.unpack('<I4', string.sub(marks, i + 8, i + 11))
    redis.call('HSET', P .. 'x:' .. bucket_of(mark, buckets), mark, string.format('%d', id))
  end
end

local function withdraw(id, host)
  redis.call('HDEL', P .. 'items', id)
  redis.call('HDEL', P .. 'tries', id)
  redis.call('ZREM', P .. 'q:' .. host, id)
  redis.call('ZREM', P .. 'r:' .. host, id)
  redis.call('ZREM', P .. 'due', id)
  hosts[host] = true
end

-- All of it, or nothing: a key of another type is found before anything is changed.
local KINDS = {S = 'set', H = 'hash', Z = 'zset', R = 'list', L = 'list'}
local function check_all()
  check('hash', 'items', 'tries')
  check('zset', 'due', 'ready')
  check('set', 'hosts')
  check('list', 'inbox')
  local checked = {}
  local function check_once(kind, key)
    if not checked[key] then
      check(kind, key)
      checked[key] = true
    end
  end
  while place < #ARGV do
    local length = number()
    local command, key = ARGV[place + 1], ARGV[place + 2]
    if command == 'offer' then
      for _, words in ipairs(cjson.decode(key)) do
        check_once('zset', 'q:' .. words[3])
        check_once('zset', 'r:' .. words[3])
        check_once('hash', 'h:' .. words[3])
      end
    elseif command == 'index' then
      local marks = ARGV[place + 3]
      for i = 1, #marks, 12 do
        check_once('hash', 'x:' .. bucket_of(string.sub(marks, i, i + 7), tonumber(key)))
      end
    elseif command == 'withdraw' then
      check_once('zset', 'q:' .. ARGV[place + 3])
      check_once('zset', 'r:' .. ARGV[place + 3])
      check_once('hash', 'h:' .. ARGV[place + 3])
    elseif command == 'SET' then
      check_once('string', key)
    elseif command ~= 'DEL' then
      check_once(KINDS[string.sub(command, 1, 1)], key)
    end
    place = place + length
  end
end

local function change_all()
  local done = number()
  local start = place
  check_all()
  place = start
  redis.call('LTRIM', P .. 'inbox', done, -1)
  while place < #ARGV do
    local length = number()
    local command = ARGV[place + 1]
    if command == 'offer' then
      for _, words in ipairs(cjson.decode(ARGV[place + 2])) do
        if table.remove(words, 1) == '1' then
          offer(unpack(words))
        else
          update(unpack(words))
        end
      end
    elseif command == 'index' then
      index(tonumber(ARGV[place + 2]), ARGV[place + 3])
    elseif command == 'withdraw' then
      withdraw(unpack(ARGV, place + 2, place + length))
    else
      redis.call(command, P .. ARGV[place + 2], unpack(ARGV, place + 3, place + length))
    end
    place = place + length
  end
  for host in pairs(hosts) do
    settle(host)
  end
end
