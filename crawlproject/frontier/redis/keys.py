"""Every key that a shared crawl keeps in Redis. All begin with ``crawl:{id}:``.

The braces make one hash slot of them, so that a script may use them together. A crawl that is
too large for one server has *shards*, each with a slot of its own: ``crawl:{id}:``, the first,
and ``crawl:{id.3}:`` or the like for others. A host and all that is queued of it are in one shard;
blocks, buckets and pages are in turn. What has neither host nor number is in the first.

| key | type | what |
|---|---|---|
| ``meta`` | hash | ``birth``, ``spider``, ``last_id``, ``census``, ``stop``, ``ends_at`` … |
| ``notes`` | hash | what the crawl remembers of itself: seeds, scope |
| ``workers`` | sorted set | sessions, by when they end unless they are renewed |
| ``redo``, ``applied`` | string | a commit to several shards that is under way; the last one here |
| ``hungry`` | sorted set | sessions that wanted more than there was, and when |
| ``committer`` | string | the session that may commit, and the number of its term |
| ``inbox`` | list | messages for the committer: answers, seeds, items |
| ``aside`` | list | values that were not ours, with the key where they were; bounded |
| ``aside:<key>`` | any | a key that was of another type than here, under another name |
| ``e:<n>`` | string | 64 entries by id, as a compressed block (``blocks.py``) |
| ``x:<n>`` | hash | which id a fingerprint has: a bucket of about 64 |
| ``items`` | hash | by id: what a worker has to know of a URL that is queued or leased |
| ``tries`` | hash | by id: what was learned of one that is to be tried again |
| ``due``, ``due_at`` | sorted set, hash | ids that wait for their time; their hosts |
| ``q:<host>`` | sorted set | queued ids of a host, breadth first |
| ``r:<host>`` | sorted set | … those that are visited again, the most deserving first |
| ``hosts`` | set | hosts that had something queued |
| ``h:<host>`` | hash | a host: ``ready_at``, ``delay``, ``cap``, ``out`` (slots given out) … |
| ``ready`` | sorted set | hosts with something queued and a free slot, by ``ready_at`` |
| ``robots:<host>`` | hash | what the robots.txt of its origins said |
| ``n:<worker>`` | string | how many messages of a worker were heard |
| ``l:<worker>`` | hash | ids that a worker has, and their hosts |
| ``s:<worker>`` | hash | hosts at which it has slots, and how many |
| ``pages:<n>``, ``links:<n>`` | hash | by id, 256 a key: records; links as ids |
| ``contents:<n>`` | hash | by id, 256 a key: what pages are compared by |
| ``visits:<n>`` | hash | by id, 256 a key: what visits have found, when the next one is due |
| ``changes:<n>`` | hash | by id, 256 a key: what a later visit has found changed |
| ``hints:<n>`` | hash | by id, 256 a key: what sitemaps say of it, by their URLs |
| ``things:<n>`` | hash | by id, 256 a key: items that its last visit has brought besides its page |
| ``starts`` | hash | items that belong to no URL |
| ``answers``, ``answered`` | hash | answers that wait for their turn, and of which id each is |
| ``levels:<n>``, ``levels`` | set, hash | ids that wait for their level; how many, by level |
| ``beyond`` | sorted set | ids that wait for a larger page budget |
| ``budgets`` | hash | groups of URLs with a budget, and how much of it is spent |
| ``sources`` | hash | which ids redirect to an id |
"""

from __future__ import annotations

import zlib

from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from crawlproject.frontier.entry import AGAIN, BY_SITEMAP, depth_of

# What the values in these keys look like. Other versions are refused, not guessed at.
VERSION = 3

# Ids in one hash of pages.
PAGES_A_KEY = 256


PAGED = ("pages", "links", "contents", "visits", "changes", "hints", "things")
_NUMBERED = frozenset({"e", "x", *PAGED})
_OF_HOSTS = frozenset({"h", "q", "r", "robots"})
# What is visited again has a place below 0: so it is known to which of two queues it belongs.
_LANE = 1 << 52
# Bits of a score for the rank: priorities of up to 1000 and ids below 2 ** 31.
_RANK_BITS = 42
_MIDDLE = 1 << (_RANK_BITS - 1)
# Deeper levels count as this one.
_DEEPEST = 1023


def prefix_of(crawl: str) -> str:
    """What the keys of a crawl begin with, in its first shard."""
    return f"crawl:{{{crawl}}}:"


def prefixes_of(crawl: str, shards: int) -> list[str]:
    """… and in all of them: numbered so that each is in another part of a cluster's slots."""
    names = [crawl]
    parts = {key_slot(crawl.encode()) * shards // REDIS_CLUSTER_HASH_SLOTS}
    number = 0
    while len(names) < shards:
        number += 1
        name = f"{crawl}.{number}"
        part = key_slot(name.encode()) * shards // REDIS_CLUSTER_HASH_SLOTS
        if part not in parts:
            parts.add(part)
            names.append(name)
    return [prefix_of(name) for name in names]


def shard_of_host(host: str, shards: int) -> int:
    return zlib.crc32(host.encode("utf-8", "surrogatepass")) % shards


def shard_of(key: str, shards: int) -> int:
    """The shard of a key, by its name without the prefix."""
    kind, _, rest = key.partition(":")
    if kind in _NUMBERED:
        return int(rest) % shards
    return shard_of_host(rest, shards) if kind in _OF_HOSTS else 0


def score_of(level: int, rank: int) -> int:
    """The place in a queue as a number that a sorted set holds exactly (below 2 ** 53)."""
    if level == AGAIN:
        return min(rank, _LANE - 1) - _LANE
    steps = min(depth_of(level), _DEEPEST) + (_DEEPEST + 1 if level >= BY_SITEMAP else 0)
    # A rank is below 0 where the priority is high.
    return (steps << _RANK_BITS) + max(0, min(rank + _MIDDLE, (1 << _RANK_BITS) - 1))


def paged(name: str, number: int) -> str:
    """The key of the hash that has something of an id."""
    return f"{name}:{number // PAGES_A_KEY}"
