"""Whether any receiver is connected to a signal of a crawl.

Scrapy's SignalManager has no such query. Its receivers are kept by pydispatch, for every signal
manager alike, so this works with Scrapy's own and with any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydispatch import dispatcher

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


def has_receivers(crawler: Crawler, *signals: Any) -> bool:
    """Return True if sending one of these signals would call anybody.

    It is asked for every page, so it reads pydispatch's table instead of listing the receivers.
    pydispatch removes a signal from the table with its last receiver.
    """
    for sender in (crawler.signals.sender, dispatcher.Any):
        connected = dispatcher.connections.get(id(sender))
        if connected and not connected.keys().isdisjoint((*signals, dispatcher.Any)):
            return True
    return False
