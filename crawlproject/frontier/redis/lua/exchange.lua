-- What a worker has done, for what it may do next.
--
-- KEYS     the prefix of the crawl's keys
-- ARGV    , in this order (a list is its length, and then its members):
--   worker, the crawl's birth ('': it is not known yet), now ('': Redis' clock), seconds until the
--   session ends, the crawl's time limit in seconds (0: none; '': this is not the session's first
--   exchange), may_commit,
--   URLs wanted, how many seconds before its time a host may be given out, asks_robots, the part of
--   a host's URLs that are visited again, while others wait;
--   the number of the first message, list of messages for the committer;
--   list of ended leases: id, answer;
--   list of released leases: id, seconds to wait, what was learned (JSON);
--   list of the ids that it has, if it does not know whether it was heard last time; else -1;
--   list of hosts: name, slots kept, seconds until a request may start, pause, spacing, cap,
--     Crawl-delay, AutoThrottle's delay, failures, further requests, is_idle, URLs wanted, slots
--     wanted;
--   list of robots: host, origin, what is known.
-- returns  now, is_lost, crawl (see below), next time, list of grants;
--   nothing, and nothing was done, if it is another crawl than the one that was born then.
--   A grant: host, slots, is_sole, ready_at ('': as this worker has reported), Crawl-delay,
--   AutoThrottle's delay, failures, list of robots (origin, what is known), list of URLs (id, item,
--   what was learned).
--
-- A host with a cap of one slot is given to one worker at a time, which is the sole one there until
-- it has given the slot back (field 'sole' of 'h:' .. host), whatever cap others report meanwhile.

local worker, birth = argument(), argument()
local now = clock(argument())
local lasts = number()
local time_limit = argument()
local is_new = time_limit ~= ''
local may_commit = argument() == '1'
local wanted = number()
local ahead = number()
local asks_robots = argument() == '1'
local share_of_visits = number()

local own, kept_hosts = P .. 'l:' .. worker, P .. 's:' .. worker
check('hash', 'meta', 'items', 'tries', 'due_at', 'l:' .. worker, 's:' .. worker)
check('zset', 'workers', 'hungry', 'due', 'ready')
check('list', 'inbox')
check('string', 'committer', 'n:' .. worker)

if birth == '' then
  redis.call('HSETNX', P .. 'meta', 'birth', worker .. ' ' .. written(now))
elseif redis.call('HGET', P .. 'meta', 'birth') ~= birth then
  return false
end

-- Sessions that have ended.
local late = redis.call('ZRANGEBYSCORE', P .. 'workers', '-inf', written(now), 'WITHSCORES')
for i = 1, #late, 2 do
  end_session(late[i], tonumber(late[i + 1]))
end
if is_new and redis.call('ZCARD', P .. 'workers') == 0 then
  -- A new run.
  redis.call('HDEL', P .. 'meta', 'stop', 'ends_at')
  if tonumber(time_limit) > 0 then
    redis.call('HSET', P .. 'meta', 'ends_at', written(now + tonumber(time_limit)))
  end
end
if is_new then
  -- So onlookers can tell how long a worker was silent.
  redis.call('HSET', P .. 'meta', 'lasts', lasts)
end
local is_lost = not is_new and not redis.call('ZSCORE', P .. 'workers', worker)
redis.call('ZADD', P .. 'workers', written(now + lasts), worker)
local committer = redis.call('GET', P .. 'committer') or ''
local holder = string.match(committer, '^(.+) %d+$')
-- There is none, or what is there names nobody who works.
local is_free = not holder or not redis.call('ZSCORE', P .. 'workers', holder)
if may_commit and is_free then
  -- Each time that somebody becomes it, it is another one.
  local term = string.format('%d', finite(redis.call('HGET', P .. 'meta', 'term'), 0) + 1)
  redis.call('HSET', P .. 'meta', 'term', term)
  redis.call('SET', P .. 'committer', worker .. ' ' .. term)
end

-- A message that came before, and whose answer was lost, is told again.
local heard = P .. 'n:' .. worker
local first = number()
local known = finite(redis.call('GET', heard), 0)
local messages = number()
for i = first, first + messages - 1 do
  local message = argument()
  if i > known then
    redis.call('RPUSH', P .. 'inbox', message)
  end
end
if messages > 0 then
  redis.call('SET', heard, first + messages - 1, 'EX', 86400)
end

-- An answer counts as long as there is none: whoever was given the URL meanwhile.
for _ = 1, number() do
  local id, answer = argument(), argument()
  local host = redis.call('HGET', own, id)
  redis.call('HDEL', own, id)
  if redis.call('HDEL', P .. 'items', id) == 1 then
    redis.call('HDEL', P .. 'tries', id)
    redis.call('RPUSH', P .. 'inbox', answer)
    if not host then
      redis.call('ZREM', P .. 'due', id)
    end
  end
end

for _ = 1, number() do
  local id, wait, learned = argument(), number(), argument()
  local host = redis.call('HGET', own, id)
  if host then
    check('zset', 'q:' .. host, 'r:' .. host)
    redis.call('HDEL', own, id)
    redis.call('HSET', P .. 'tries', id, learned)
    if wait > 0 then
      redis.call('ZADD', P .. 'due', written(now + wait), id)
      redis.call('HSET', P .. 'due_at', id, host)
    else
      requeue(id, host)
      settle(host)
    end
  end
end

-- What was given out and never arrived.
local has = number()
local is_unsure = has >= 0
if is_unsure then
  local ids = {}
  for _ = 1, has do
    ids[argument()] = true
  end
  local leases = redis.call('HGETALL', own)
  for i = 1, #leases, 2 do
    if not ids[leases[i]] then
      redis.call('HDEL', own, leases[i])
      requeue(leases[i], leases[i + 1])
      settle(leases[i + 1])
    end
  end
end

-- What was to wait until now.
local due = redis.call('ZRANGEBYSCORE', P .. 'due', '-inf', written(now), 'LIMIT', 0, 1000)
for _, id in ipairs(due) do
  local host = redis.call('HGET', P .. 'due_at', id)
  redis.call('ZREM', P .. 'due', id)
  redis.call('HDEL', P .. 'due_at', id)
  if host then
    requeue(id, host)
    settle(host)
  end
end

local workers = redis.call('ZCARD', P .. 'workers')
-- Somebody else has had nothing to do lately.
local is_shared = false
if workers > 1 then
  local hungry = redis.call('ZRANGEBYSCORE', P .. 'hungry', written(now - 2), '+inf')
  is_shared = #hungry > 1 or (#hungry == 1 and hungry[1] ~= worker)
end
local function share(all)
  return math.max(1, math.ceil(all / workers))
end

local grants = {}
-- When hosts may be asked next, as this worker has reported.
local reported = {}

-- How many of some URLs of a host are to be those that are visited again.
local function visits_among(host, most)
  local new = redis.call('ZCARD', P .. 'q:' .. host)
  local again = redis.call('ZCARD', P .. 'r:' .. host)
  if new == 0 or again == 0 then
    return math.min(again, most)
  end
  local key = P .. 'h:' .. host
  local owed = finite(redis.call('HGET', key, 'owed'), 0) + share_of_visits * most
  local visits = math.floor(owed + 1e-9)
  redis.call('HSET', key, 'owed', tostring(owed - visits))
  return math.min(again, math.max(visits, most - new))
end

-- URLs of a host for this worker, which has slots there.
local function grant(host, slots, most)
  check('hash', 'h:' .. host, 'robots:' .. host)
  local taken = {}
  local function take(queue, count)
    local popped = count > 0 and redis.call('ZPOPMIN', P .. queue .. host, count) or {}
    for i = 1, #popped, 2 do
      local id = popped[i]
      local item = redis.call('HGET', P .. 'items', id)
      if item then
        redis.call('HSET', own, id, host)
        taken[#taken + 1] = id
        taken[#taken + 1] = item
        taken[#taken + 1] = redis.call('HGET', P .. 'tries', id) or ''
      end
    end
  end
  if most > 0 then
    local visits = visits_among(host, most)
    take('r:', visits)
    take('q:', most - visits)
  end
  local state = redis.call(
    'HMGET', P .. 'h:' .. host, 'ready_at', 'insisted', 'throttled', 'failures'
  )
  local ready_at = state[1] or written(NEVER)
  if reported[host] and finite(ready_at, NEVER) <= reported[host] then
    -- It would come back later than it was sent, again and again.
    ready_at = ''
  end
  local is_sole = slots > 0 and redis.call('HGET', P .. 'h:' .. host, 'sole') == worker
  grants[#grants + 1] = {
    host, slots, is_sole and 1 or 0, ready_at, state[2] or '0', state[3] or '0', state[4] or '0',
    redis.call('HGETALL', P .. 'robots:' .. host), taken,
  }
  return #taken / 3
end

local told = {}
local surplus = 0
if is_shared then
  local held, all = redis.call('HLEN', kept_hosts), redis.call('ZCARD', P .. 'ready')
  for _, other in ipairs(redis.call('ZRANGE', P .. 'workers', 0, -1)) do
    all = all + redis.call('HLEN', P .. 's:' .. other)
  end
  surplus = held - share(all)
end

for _ = 1, number() do
  local host, kept = argument(), number()
  told[host] = true
  local ready_in, delay, spacing, cap = argument(), argument(), argument(), number()
  local insisted, throttled, failures, requests = number(), argument(), argument(), number()
  local is_idle, urls, slots = argument() == '1', number(), number()
  local granted = #grants
  local key = P .. 'h:' .. host
  local before = finite(redis.call('HGET', kept_hosts, host), 0)
  -- A session that was lost has none.
  kept = math.min(kept, before)
  local asked_for = finite(redis.call('HGET', key, 'insisted'), 0)
  local is_slower = asked_for > insisted
  insisted = math.max(insisted, asked_for)
  if is_slower then
    -- This worker does not know it yet.
    delay = written(math.max(tonumber(delay), insisted))
    spacing = written(math.max(tonumber(spacing), insisted))
    cap = 1
  end
  local sole = redis.call('HGET', key, 'sole')
  if sole then
    cap = 1
  end
  redis.call(
    'HSET', key, 'delay', delay, 'spacing', spacing, 'cap', cap, 'insisted', tostring(insisted),
    'throttled', throttled, 'failures', failures
  )
  requests = requests + finite(redis.call('HGET', key, 'requests'), 0)
  redis.call('HSET', key, 'requests', string.format('%d', requests))
  local ready_at = ready_in == '' and NEVER or now + tonumber(ready_in)
  reported[host] = ready_at
  free_slots(host, before - kept, ready_at)
  local out = finite(redis.call('HGET', key, 'out'), 0)
  if is_shared then
    -- What is more than its share, the worker gives back when its requests have ended.
    slots = math.min(slots, share(cap) - kept)
  end
  local more = math.max(0, math.min(slots, cap - out))
  kept, out = kept + more, out + more
  if cap == 1 and kept > 0 and out == kept then
    -- All slots that are out are this worker's: from now on they are one.
    kept, out = 1, 1
    redis.call('HSET', key, 'sole', worker)
  end
  redis.call('HSET', key, 'out', string.format('%d', out))
  local has_urls = false
  -- It got slower since slots were given out: who comes first gives up what is too much.
  local over = math.min(kept, out - cap)
  if over > 0 then
    grant(host, kept - over, 0)
    urls = 0
  end
  if urls > 0 and kept > 0 then
    if surplus > 0 and is_idle then
      surplus = surplus - 1
    else
      local count = grant(host, is_shared and math.min(kept, share(cap)) or kept, urls)
      wanted = wanted - count
      has_urls = count > 0
    end
  elseif more > 0 then
    grant(host, kept, 0)
  end
  if is_idle and not has_urls and more == 0 and kept > 0 then
    -- Its answer says so: no grant, no slots.
    free_slots(host, kept, ready_at)
    kept = 0
  end
  if kept > 0 and #grants == granted then
    -- Another worker has learned that the host needs time.
    local known = finite(redis.call('HGET', key, 'ready_at'), NEVER)
    local is_new = sole ~= worker and redis.call('HGET', key, 'sole') == worker
    if is_slower or is_new or known > math.max(ready_at, now) then
      grant(host, kept, 0)
    end
  end
  if kept > 0 then
    redis.call('HSET', kept_hosts, host, kept)
  else
    redis.call('HDEL', kept_hosts, host)
  end
  settle(host)
end

for _ = 1, number() do
  local host, origin, known = argument(), argument(), argument()
  redis.call('HSET', P .. 'robots:' .. host, origin, known)
end

if is_unsure then
  local slots = redis.call('HGETALL', kept_hosts)
  for i = 1, #slots, 2 do
    if not told[slots[i]] then
      redis.call('HDEL', kept_hosts, slots[i])
      free_slots(slots[i], finite(slots[i + 1], 0), NEVER)
      settle(slots[i])
    end
  end
end

-- Hosts that may be asked now, or soon; of those, the ones with the best URLs.
if wanted > 0 then
  local hosts = redis.call(
    'ZRANGEBYSCORE', P .. 'ready', '-inf', written(now + ahead), 'LIMIT', 0,
    math.max(64, wanted)
  )
  local best = {}
  for i, host in ipairs(hosts) do
    local first = redis.call('ZRANGE', P .. 'r:' .. host, 0, 0, 'WITHSCORES')
    if not first[2] then
      first = redis.call('ZRANGE', P .. 'q:' .. host, 0, 0, 'WITHSCORES')
    end
    best[i] = {tonumber(first[2]) or 0, host}
  end
  table.sort(best, function(one, other)
    if one[1] == other[1] then
      return one[2] < other[2]
    end
    return one[1] < other[1]
  end)
  for i, pair in ipairs(best) do
    if wanted <= 0 then
      break
    end
    local host = pair[2]
    local key = P .. 'h:' .. host
    local state = redis.call('HMGET', key, 'cap', 'out', 'spacing')
    local cap, out, spacing = finite(state[1], 1), finite(state[2], 0), finite(state[3], 0)
    local mine = finite(redis.call('HGET', kept_hosts, host), 0)
    local slots = math.min(cap - out, wanted)
    if is_shared then
      slots = math.min(slots, math.max(0, share(cap) - mine))
    end
    if asks_robots and redis.call('EXISTS', P .. 'robots:' .. host) == 0 then
      -- Only one asks for its robots.txt.
      slots = out == 0 and 1 or 0
    end
    if slots > 0 then
      local urls = math.max(slots, math.ceil(wanted / (#best - i + 1)))
      if spacing > 0 then
        urls = math.min(urls, math.max(1, math.ceil(ahead / spacing)))
      end
      if cap == 1 and out == 0 then
        redis.call('HSET', key, 'sole', worker)
      end
      wanted = wanted - grant(host, mine + slots, urls)
      redis.call('HSET', key, 'out', string.format('%d', out + slots))
      redis.call('HSET', kept_hosts, host, mine + slots)
      settle(host)
    end
  end
end

if wanted > 0 then
  redis.call('ZADD', P .. 'hungry', written(now), worker)
else
  redis.call('ZREM', P .. 'hungry', worker)
end

-- When there may be something that is not given out yet.
local next_at = ''
for _, key in ipairs({'ready', 'due'}) do
  local first = redis.call(
    'ZRANGEBYSCORE', P .. key, '(' .. written(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1
  )
  if first[2] and (next_at == '' or tonumber(first[2]) < tonumber(next_at)) then
    next_at = written(tonumber(first[2]))
  end
end

-- The crawl: version of the notes, stop, census, is_idle, messages in the inbox, URLs leased,
-- the committer, workers, birth.
local meta = redis.call('HMGET', P .. 'meta', 'notes', 'stop', 'census', 'idle', 'ends_at')
local stop = meta[2] or ''
if stop == '' and now >= (tonumber(meta[5]) or math.huge) then
  stop = 'closespider_timeout'
end
local leased = 0
for _, other in ipairs(redis.call('ZRANGE', P .. 'workers', 0, -1)) do
  leased = leased + redis.call('HLEN', P .. 'l:' .. other)
end
return {
  written(now), is_lost and 1 or 0,
  {
    meta[1] or '', stop, meta[3] or '', meta[4] or '',
    redis.call('LLEN', P .. 'inbox'), leased, redis.call('GET', P .. 'committer') or '', workers,
    redis.call('HGET', P .. 'meta', 'birth'),
  },
  next_at, grants,
}
