-- What the committer has made of messages, in another shard than the first.
--
-- KEYS     the prefix of the shard's keys
-- ARGV     number of the commit, and the changes (see common.lua)
-- returns  1; 0: that was done before.

local commit = number()
if commit <= (tonumber(redis.call('GET', P .. 'applied')) or 0) then
  return 0
end
redis.call('SET', P .. 'applied', commit)
change_all()
return 1
