import logging

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from crawlproject.urls.dupefilter import CanonicalDupeFilter
from crawlproject.urls.fingerprint import CanonicalFingerprinter

FIRST = Request("http://example.com/a?b=1&c=2")
SAME = Request("http://EXAMPLE.com:80/a?c=2&b=1&utm_id=3#d", headers={"Referer": "http://from/"})


class MethodBlind:
    """A project's own fingerprinter."""

    def fingerprint(self, request: Request) -> bytes:
        return request.url.partition("?")[0].encode()


def make(**settings: object) -> tuple[CanonicalDupeFilter, Spider, Crawler]:
    crawler = get_crawler(settings_dict=settings)
    spider = Spider.from_crawler(crawler, "spider")
    return build_from_crawler(CanonicalDupeFilter, crawler), spider, crawler


def test_spellings_of_one_url_are_duplicates_in_any_project() -> None:
    dupefilter, _, _ = make()
    assert isinstance(dupefilter.fingerprinter, CanonicalFingerprinter)
    dupefilter.open()
    assert not dupefilter.request_seen(FIRST)
    assert dupefilter.request_seen(FIRST)
    assert dupefilter.request_seen(SAME)
    assert not dupefilter.request_seen(FIRST.replace(method="POST"))
    dupefilter.close("finished")


def test_fingerprinter_of_the_project_is_kept() -> None:
    dupefilter, _, _ = make(REQUEST_FINGERPRINTER_CLASS=MethodBlind)
    assert not dupefilter.request_seen(FIRST)
    assert dupefilter.request_seen(Request("http://example.com/a?x"))


def test_first_duplicate_is_logged_and_every_one_counted(caplog: pytest.LogCaptureFixture) -> None:
    dupefilter, spider, crawler = make()
    with caplog.at_level(logging.DEBUG):
        for _ in range(3):
            dupefilter.log(SAME, spider)
    (record,) = [record for record in caplog.records if "Duplicate" in record.getMessage()]
    assert SAME.url in record.getMessage()
    assert "DUPEFILTER_DEBUG" in record.getMessage()
    assert crawler.stats.get_value("dupefilter/filtered") == 3


def test_debug_logs_every_duplicate_with_its_referrer(caplog: pytest.LogCaptureFixture) -> None:
    dupefilter, spider, crawler = make(DUPEFILTER_DEBUG=True)
    with caplog.at_level(logging.DEBUG):
        for _ in range(3):
            dupefilter.log(SAME, spider)
    messages = [record.getMessage() for record in caplog.records]
    assert sum("http://from/" in message for message in messages) == 3
    assert crawler.stats.get_value("dupefilter/filtered") == 3
