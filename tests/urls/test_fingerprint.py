import gc

import pytest
from scrapy import Request
from scrapy.http import FormRequest
from scrapy.settings import Settings
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from crawlproject.urls.canonical import canonicalize
from crawlproject.urls.fingerprint import CanonicalFingerprinter, canonicalizer_from, identity

URL = "http://example.com/a?b=1&c=2"


def test_plain_get_is_identified_by_its_canonical_url() -> None:
    assert identity(Request("HTTP://Example.com:80/a?c=2&b=1&utm_id=3#d")) == URL


def test_method_and_body_are_part_of_the_identity() -> None:
    requests = [
        Request(URL),
        Request(URL, method="HEAD"),
        Request(URL, method="POST"),
        Request(URL, method="POST", body=b"x"),
        Request(URL, method="POST", body=b"y"),
        Request(URL, body=b"x"),
    ]
    assert len({identity(request) for request in requests}) == len(requests)
    one, other = (FormRequest(url, formdata={"k": "v"}) for url in (URL, f"{URL}#top"))
    assert identity(one) == identity(other)


def test_fingerprint_is_20_bytes_and_the_same_for_every_spelling() -> None:
    fingerprinter = CanonicalFingerprinter()
    fingerprint = fingerprinter.fingerprint(Request(URL))
    assert len(fingerprint) == 20
    assert fingerprinter.fingerprint(Request("http://EXAMPLE.com/a?c=2&b=1")) == fingerprint
    assert fingerprinter.fingerprint(Request("https://example.com/a?b=1&c=2")) != fingerprint


@pytest.mark.parametrize(
    "url",
    ["data:,x", "file:///a", "s3://bucket/key", "about:blank", "http://a..b/"],
)
def test_what_is_not_crawlable_has_a_fingerprint_all_the_same(url: str) -> None:
    fingerprinter = CanonicalFingerprinter()
    assert len(fingerprinter.fingerprint(Request(url))) == 20
    assert fingerprinter.fingerprint(Request(url)) != fingerprinter.fingerprint(Request("data:,y"))


def test_fingerprint_of_a_request_is_forgotten_with_the_request() -> None:
    fingerprinter = CanonicalFingerprinter()
    request = Request(URL)
    assert fingerprinter.fingerprint(request) is fingerprinter.fingerprint(request)
    assert len(fingerprinter._known) == 1
    del request
    gc.collect()
    assert len(fingerprinter._known) == 0


def test_settings_choose_what_does_not_count() -> None:
    crawler = get_crawler(
        settings_dict={"URLS_TRACKING_PARAMS": ["c", "d*"], "URLS_JOIN_SCHEMES": True}
    )
    fingerprinter = build_from_crawler(CanonicalFingerprinter, crawler)
    assert fingerprinter.identity(Request(f"{URL}&d1=3&sid=4")) == "https://example.com/a?b=1&sid=4"


def test_settings_from_the_command_line_are_text() -> None:
    chosen = canonicalizer_from(
        Settings({"URLS_TRACKING_PARAMS": "b, c", "URLS_JOIN_SCHEMES": "0"})
    )
    assert chosen(URL) == "http://example.com/a"
    none = canonicalizer_from(Settings({"URLS_TRACKING_PARAMS": ""}))
    assert none("http://example.com/?sid=1") == "http://example.com/?sid=1"


def test_project_without_the_settings_has_the_defaults() -> None:
    url = "http://example.com/?utm_id=1&a=2"
    assert canonicalizer_from(Settings())(url) == canonicalize(url) == "http://example.com/?a=2"


def test_scrapy_takes_it_as_its_fingerprinter() -> None:
    path = "crawlproject.urls.fingerprint.CanonicalFingerprinter"
    crawler = get_crawler(settings_dict={"REQUEST_FINGERPRINTER_CLASS": path})
    assert isinstance(crawler.request_fingerprinter, CanonicalFingerprinter)
