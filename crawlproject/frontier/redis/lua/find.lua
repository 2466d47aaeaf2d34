-- The ids of URLs, by their fingerprints.
--
-- KEYS     the prefix of the crawl's keys
-- ARGV     buckets, and the fingerprints, eight bytes each, one after the other.
-- returns  the ids, four bytes each, in the same order; 0: none.

local buckets = number()
local marks = argument()
local found = {}
for i = 1, #marks, 8 do
  local mark = string.sub(marks, i, i + 7)
  local id = redis.call('HGET', P .. 'x:' .. bucket_of(mark, buckets), mark)
  found[#found + 1] = struct.pack('<I4', tonumber(id) or 0)
end
return table.concat(found)
