-- Does what a crawl does to keys, and leaves none: may we?
--
-- KEYS     five that nobody uses: for a string, a hash, a list, a set, a sorted set
-- returns  what could not be done, each as 'command: what Redis says'; nothing if all is well

local text, hash, list, set, sorted = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local steps = {
    {'set', text, '1', 'px', '60000'}, {'get', text}, {'incrby', text, '1'}, {'exists', text},
    {'hset', hash, 'a', '1', 'b', '2'}, {'hget', hash, 'a'}, {'hmget', hash, 'a', 'b'},
    {'hexists', hash, 'a'}, {'hincrby', hash, 'a', '1'}, {'hlen', hash}, {'hgetall', hash},
    {'hscan', hash, '0'}, {'hdel', hash, 'b'}, {'pexpire', hash, '60000'}, {'persist', hash},
    {'rpush', list, '1', '2'}, {'lpush', list, '0'}, {'lrange', list, '0', '-1'}, {'llen', list},
    {'ltrim', list, '0', '1'}, {'lrem', list, '1', '0'}, {'lpop', list},
    {'sadd', set, '1', '2'}, {'sismember', set, '1'}, {'smembers', set}, {'scard', set},
    {'sscan', set, '0'}, {'srem', set, '1'},
    {'zadd', sorted, '1', 'a', '2', 'b', '3', 'c'}, {'zscore', sorted, 'a'}, {'zcard', sorted},
    {'zrange', sorted, '0', '-1'}, {'zrangebyscore', sorted, '-inf', '2'}, {'zcount', sorted, '1', '2'},
    {'zincrby', sorted, '1', 'c'}, {'zpopmin', sorted}, {'zremrangebyscore', sorted, '2', '2'},
    {'zrem', sorted, 'c'}, {'type', sorted}, {'time'},
    {'del', text, hash, list, set, sorted},
}

local problems = {}
for _, step in ipairs(steps) do
    local answer = redis.pcall(unpack(step))
    if type(answer) == 'table' and answer.err then
        problems[#problems + 1] = step[1] .. ': ' .. answer.err
    end
end
return problems
