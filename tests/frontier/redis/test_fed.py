from __future__ import annotations

import json
from typing import Any

import pytest

from crawlproject.frontier.redis.fed import Fed, NoSeed, parsed

URL = "http://a.example/x?y=1"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (URL, (URL, "GET", b"", {})),
        (f"  {URL}\n", (URL, "GET", b"", {})),
        ({"url": URL}, (URL, "GET", b"", {})),
        ({"url": URL, "meta": {"job": 7}}, (URL, "GET", b"", {"job": 7})),
        ({"url": URL, "meta": None, "method": None}, (URL, "GET", b"", {})),
        # The rest is a form: behind the URL, in place of what is there, or posted.
        ({"url": URL, "page": 3, "q": "ü"}, ("http://a.example/x?page=3&q=%C3%BC", "GET", b"", {})),
        ({"url": URL, "method": "post", "a": ["1", "2"]}, (URL, "POST", b"a=1&a=2", {})),
        # What only the frontier says of a request.
        (
            {"url": URL, "meta": {"lease": 1, "depth": -5, "retry_times": 99, "mine": 1}},
            (URL, "GET", b"", {"mine": 1}),
        ),
    ],
)
def test_a_url_or_json_with_one_is_a_seed(value: str | dict[str, Any], expected: Any) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    assert parsed(text.encode()) == Fed(text.encode(), *expected)


def test_a_seed_is_plain_if_it_is_its_url_alone() -> None:
    assert parsed(URL.encode()).is_plain
    assert parsed(json.dumps({"url": URL, "page": 3}).encode()).is_plain
    assert not parsed(json.dumps({"url": URL, "meta": {"a": 1}}).encode()).is_plain
    assert not parsed(json.dumps({"url": URL, "method": "HEAD"}).encode()).is_plain


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (b"", "URL"),
        (b"no url", "no url"),
        (b"123", "123"),
        (b"[1]", "[1]"),
        (b"javascript:alert(1)", "javascript"),
        (b"\xff\xfe", "it is not utf-8"),
        (b'{"url": "http://a.example/"', "is broken JSON"),
        (b'{"url": ' + b"[" * 100_000, "is broken JSON"),
        (b'{"u": 1}', "has no url"),
        (b'{"url": 5}', "5 is no URL"),
        (b'{"url": null}', "None is no URL"),
        (b'{"url": "http://a.example/", "method": "GET / HTTP/1.1"}', "is no method"),
        (b'{"url": "http://a.example/", "method": 1}', "1 is no method"),
        (b'{"url": "http://a.example/", "meta": [1]}', "is no meta"),
        (b"http://a.example/" + b"a" * 1_048_576, "bytes"),
    ],
)
def test_anything_else_is_none_and_says_why(value: bytes, problem: str) -> None:
    with pytest.raises(NoSeed) as caught:
        parsed(value)
    assert problem in str(caught.value)
    assert len(str(caught.value)) < 300


def test_it_is_read_in_its_encoding() -> None:
    assert parsed("http://a.example/ü".encode("latin-1"), "latin-1").url == "http://a.example/ü"
