-- The ids of URLs, by their fingerprints.
--
-- KEYS     the prefix of the crawl's keys
-- ARGV     buckets, and the fingerprints, eight bytes each, one after the other.
-- returns  the ids, four bytes each, in the same order; 0: none.

local buckets = number()
local marks = argument()
local level = 1
while level * 2 <= buckets do
  level = level * 2
end
local found = {}
for i = 1, #marks, 8 do
  local mark = string.sub(marks, i, i + 7)
  local a, b, c, d = string.byte(mark, 1, 4)
  local hash = a + b * 256 + c * 65536 + d * 16777216
  local bucket = hash % (level * 2)
  if bucket >= buckets then
    bucket = hash % level
  end
  local id = redis.call('HGET', P .. 'x:' .. bucket, mark)
  found[#found + 1] = struct.pack('<I4', tonumber(id) or 0)
end
return table.concat(found)
