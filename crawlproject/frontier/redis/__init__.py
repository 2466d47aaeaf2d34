"""The frontier that several workers share: one crawl on many machines, in Redis.

Nothing of it is imported where ``REDIS_URL`` is not set.
"""
