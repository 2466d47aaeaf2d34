-- A worker ends its session. What it has learned was handed in before.
--
-- KEYS     the prefix of the crawl's keys
-- ARGV     worker, now ('': Redis' clock).
-- returns  how many workers are left.

local worker = argument()
local now = clock(argument())
if redis.call('ZSCORE', P .. 'workers', worker) then
  end_session(worker, now)
end
return redis.call('ZCARD', P .. 'workers')
