-- A worker ends its session. What it has learned was handed in before.
--
-- ARGV: worker, now ('': Redis' clock).
-- Returns: how many workers are left.

local worker = argument()
local now = clock(argument())
if redis.call('ZSCORE', P .. 'workers', worker) then
  end_session(worker, now)
end
return redis.call('ZCARD', P .. 'workers')
