-- What a commit to several shards is going to do, written down before it does.
--
-- KEYS     the prefix of the crawl's keys
-- ARGV     committer, all of it
-- returns  1; 0: there is another committer, and nothing was done.

if redis.call('GET', P .. 'committer') ~= argument() then
  return 0
end
redis.call('SET', P .. 'redo', argument())
return 1
