"""Dupe filters of a project's own, in a crawl that is resumed.

A filter learns from the frontier which requests earlier runs have asked about. Its own record of
them can't be used: after a kill it has requests that were not committed and are made again.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.dupefilters import RFPDupeFilter
from scrapy.utils.job import job_dir
from scrapy.utils.misc import build_from_crawler, load_object

from crawlproject.frontier.configuration import dupefilter_class

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter

    from crawlproject.frontier.reading import Reader

# Where Scrapy's filter and its subclasses write down fingerprints, without knowing of commits.
_RECORD = "requests.seen"


def build_dupefilter(crawler: Crawler) -> BaseDupeFilter:
    """The filter that the settings name, without what Scrapy's has written in earlier runs."""
    settings = crawler.settings
    cls = load_object(dupefilter_class(settings))
    folder = job_dir(settings)
    if folder is not None and isinstance(cls, type) and issubclass(cls, RFPDupeFilter):
        Path(folder, _RECORD).unlink(missing_ok=True)
    filter_: BaseDupeFilter = build_from_crawler(cls, crawler)
    return filter_


def teach(filters: tuple[BaseDupeFilter, ...], known: Reader) -> None:
    """Ask filters about the requests of earlier runs, as far as a URL is all that there is to them.

    Their answers do not matter, as the frontier has these requests.
    """
    for request in _requests(known):
        for one in filters:
            # A filter may need meta that was not kept: then it knows less than it could.
            with suppress(Exception):
                one.request_seen(request)


def _requests(known: Reader) -> Iterator[Request]:
    # No filter was asked about them.
    seeds = set(known.seeds())
    for url in known.linked():
        # Others than plain GETs, and those that were not to be filtered, have more than a URL.
        if url not in seeds and not {" ", "#"} & set(url):
            yield Request(url)
