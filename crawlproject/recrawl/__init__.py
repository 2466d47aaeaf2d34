"""When to come back to a page, and to which first.

- ``interval``: how often a page changes, by what its visits have found, and when the next is due.
- ``importance``: how much a page matters: inbound links, depth, sitemaps; PageRank.
- ``priority``: what deserves the next fetch: what is gained by it, times importance.

All of it is pure: the frontier keeps what is known, and says what time it is.
"""
