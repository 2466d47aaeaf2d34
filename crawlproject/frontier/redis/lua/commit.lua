-- What the committer has made of messages, as one.
--
-- KEYS     the prefix of the crawl's keys
-- ARGV     committer, messages that are done, and then commands, each as its length and its words:
--   'offer', JSON: URLs that may be taken, each as id, host, score, item, delay, cap, throttled
--   'index', buckets, ids of fingerprints: eight bytes and four bytes, one after the other
--   'withdraw', id, host: one that may not be taken any more
--   any other: as Redis knows it, with the key without its prefix as the second word.
-- returns  1; 0: there is another committer, and nothing was done.

if redis.call('GET', P .. 'committer') ~= argument() then
  return 0
end
redis.call('LTRIM', P .. 'inbox', number(), -1)
redis.call('HINCRBY', P .. 'meta', 'commits', 1)

local hosts = {}
local function offer(id, host, score, item, delay, cap, throttled)
  local key = P .. 'q:' .. host
  local is_open = redis.call('HSET', P .. 'items', id, score .. ' ' .. item) == 0
  if not is_open then
    local state = P .. 'h:' .. host
    if redis.call('SADD', P .. 'hosts', host) == 1 then
      redis.call(
        'HSET', state, 'delay', delay, 'cap', cap, 'throttled', throttled, 'out', 0,
        'set_delay', delay
      )
    end
    redis.call('ZADD', key, score, id)
  elseif redis.call('ZSCORE', key, id) then
    redis.call('ZADD', key, score, id)
  end
  hosts[host] = true
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
  redis.call('ZREM', P .. 'due', id)
  hosts[host] = true
end

while place < #ARGV do
  local length = number()
  local command = ARGV[place + 1]
  if command == 'offer' then
    for _, words in ipairs(cjson.decode(ARGV[place + 2])) do
      offer(unpack(words))
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
return 1
