-- What the committer has made of messages, as one, in the first shard.
--
-- KEYS     the prefix of the crawl's keys
-- ARGV     committer, number of the commit, and the changes (see common.lua)
-- returns  1; 0: there is another committer, and nothing was done.

if redis.call('GET', P .. 'committer') ~= argument() then
  return 0
end
local commit = argument()
check('hash', 'meta')
change_all()
redis.call('HSET', P .. 'meta', 'commits', commit)
redis.call('DEL', P .. 'redo')
return 1
