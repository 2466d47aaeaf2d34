"""A polite, concurrent web crawler.

The way of a URL, and the room of each station, in the order in which it passes them::

    seeds ─► canonical ─► admission ─► frontier ─► host gate ─► fetch ─► page ─► outputs
    spiders  urls         scope        frontier    politeness   Scrapy   pages   pipelines,
                                                                                 exports

A room imports only from earlier ones. ``items.py`` is what they hand each other,
``settings.py`` wires them, ``monitoring`` watches, ``commands`` and ``api`` are the doors:
``scrapy crawl site -a seed=…`` and ``from crawlproject import crawl``.
"""

from crawlproject.api import crawl, crawl_pages

__all__ = ["crawl", "crawl_pages"]
