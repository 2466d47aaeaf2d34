-- What the committer has made of messages, as one.
--
-- KEYS     the prefix of the crawl's keys
-- ARGV     committer, messages that are done, and then commands, each as its length and its words:
--   'offer', id, host, score, item, delay, cap, throttled: a URL that may be taken
--   'update', the same: what is known of one that may be taken, unless it has answered
--   'withdraw', id, host: one that may not be taken any more
--   any other: as Redis knows it, with the key without its prefix as the second word.
-- returns  1; 0: there is another committer, and nothing was done.

if redis.call('GET', P .. 'committer') ~= argument() then
  return 0
end
local done = number()

-- All of it, or nothing: a key of another type is found before anything is changed.
check('hash', 'meta', 'items', 'tries')
check('zset', 'due', 'ready')
check('set', 'hosts')
check('list', 'inbox')
local KINDS = {S = 'set', H = 'hash', Z = 'zset', R = 'list', L = 'list'}
local checked = {}
local start = place
while place < #ARGV do
  local length = number()
  local command, key = ARGV[place + 1], ARGV[place + 2]
  local kind
  if command == 'offer' or command == 'update' or command == 'withdraw' then
    key, kind = 'q:' .. ARGV[place + 3], 'zset'
    if not checked[key] then
      check('hash', 'h:' .. ARGV[place + 3])
    end
  elseif command == 'SET' then
    kind = 'string'
  elseif command ~= 'DEL' then
    kind = KINDS[string.sub(command, 1, 1)]
  end
  if kind and not checked[key] then
    check(kind, key)
    checked[key] = true
  end
  place = place + length
end
place = start

redis.call('LTRIM', P .. 'inbox', done, -1)
local commits = finite(redis.call('HGET', P .. 'meta', 'commits'), 0) + 1
redis.call('HSET', P .. 'meta', 'commits', string.format('%d', commits))

local hosts = {}
local function offer(id, host, score, item, delay, cap, throttled)
  redis.call('HSET', P .. 'items', id, score .. ' ' .. item)
  if redis.call('SADD', P .. 'hosts', host) == 1 then
    redis.call(
      'HSET', P .. 'h:' .. host, 'delay', delay, 'cap', cap, 'throttled', throttled, 'out', 0,
      'set_delay', delay
    )
  end
  redis.call('ZADD', P .. 'q:' .. host, score, id)
  hosts[host] = true
end

local function update(id, host, score, item)
  if redis.call('HEXISTS', P .. 'items', id) == 1 then
    redis.call('HSET', P .. 'items', id, score .. ' ' .. item)
    -- A worker may have it, or it waits for its time: then it is not in the queue.
    redis.call('ZADD', P .. 'q:' .. host, 'XX', score, id)
  end
end

local function withdraw(id, host)
  redis.call('HDEL', P .. 'items', id)
  redis.call('HDEL', P .. 'tries', id)
  redis.call('ZREM', P .. 'q:' .. host, id)
  redis.call('ZREM', P .. 'due', id)
  hosts[host] = true
end

while place < #ARGV do
  local length = number()
  local command = ARGV[place + 1]
  if command == 'offer' then
    offer(unpack(ARGV, place + 2, place + length))
  elseif command == 'update' then
    update(unpack(ARGV, place + 2, place + length))
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
return 1
