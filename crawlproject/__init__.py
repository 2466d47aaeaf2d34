"""A polite, concurrent web crawler.

The way of a URL, and the room of each station, in the order in which it passes them::

    seeds ─► canonical ─► admission ─► frontier ─► host gate ─► fetch ─► page ─► outputs
    spiders  urls         scope        frontier    politeness   Scrapy   pages   pipelines,
                                                                                 exports

A room imports only from earlier ones. ``items.py`` is what they hand each other,
``settings.py`` wires them, ``monitoring`` watches, ``report`` compares; ``commands``, ``api`` and
``service`` are the doors: ``scrapy crawl site -a seed=…``, ``from crawlproject import crawl`` and
``./scripts/serve``.
``addon.py`` lends the rooms to spiders of other projects.
"""

from typing import TYPE_CHECKING

from crawlproject.api import crawl, crawl_pages

if TYPE_CHECKING:
    from crawlproject.addon import Addon

__all__ = ["Addon", "crawl", "crawl_pages"]


def __getattr__(name: str) -> object:
    # It needs Scrapy, which takes its time to load, and whoever imports a part of this does
    # not always need it.
    if name == "Addon":
        from crawlproject.addon import Addon

        return Addon
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
