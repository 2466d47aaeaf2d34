-- What the committer has made of messages, as one.
--
-- KEYS     the prefix of the crawl's keys
-- ARGV     committer, messages that are done, and then commands, each as its length and its words:
--   'offer', JSON: URLs that may be taken, each as is_new ('0': unless it has answered), id, host,
--     score, item, delay, cap, throttled
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
return 1
