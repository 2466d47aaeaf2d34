"""What sites say of their own URLs: sitemaps and feeds.

From a body to a ``Sitemap`` (``hints``), in this order; ``read`` puts them together:

- ``pieces``: the body in pieces, unpacked where it is gzip, up to a limit.
- ``encoded``: the pieces in UTF-8.
- ``mending``: markup that a parser can read. No declaration, so no entity, gets further.
- ``outline``: from elements to entries, with no tree between; ``entry``: what they mean.
- ``lines``: instead of both, where it is a URL a line.
- ``gathering``: each URL once, with what is said of it (``dates``), up to a limit.

All of it is pure.
"""
