"""What the records of an archive say."""

from __future__ import annotations

from typing import Any

import pytest

from crawlproject.exports.warc_text import (
    date_of,
    metadata,
    record_id,
    request_line,
    response_headers,
    status_line,
)


@pytest.mark.parametrize(
    ("received", "left", "expected"),
    [
        ([["Content-Length", "5"]], None, [("Content-Length", "5")]),
        ([], None, [("Content-Length", "5")]),
        (
            [["Content-Encoding", "gzip"], ["content-length", "3"], ["X", "y"]],
            None,
            [
                ("X-Archive-Orig-Content-Encoding", "gzip"),
                ("X-Archive-Orig-content-length", "3"),
                ("X", "y"),
                ("Content-Length", "5"),
            ],
        ),
        (
            [["Transfer-Encoding", "chunked"]],
            None,
            [("X-Archive-Orig-Transfer-Encoding", "chunked"), ("Content-Length", "5")],
        ),
        # What could not be decoded is still encoded.
        (
            [["Content-Encoding", "Foo"], ["Content-Length", "5"]],
            "foo",
            [("Content-Encoding", "Foo"), ("Content-Length", "5")],
        ),
        (
            [["Content-Encoding", "foo, gzip"]],
            "foo",
            [
                ("X-Archive-Orig-Content-Encoding", "foo, gzip"),
                ("Content-Encoding", "foo"),
                ("Content-Length", "5"),
            ],
        ),
        # Two lengths are one too many.
        (
            [["Content-Length", "5"], ["Content-Length", "5"]],
            None,
            [("Content-Length", "5"), ("X-Archive-Orig-Content-Length", "5")],
        ),
        ([["X", "a\r\nb\0c"]], None, [("X", "a b c"), ("Content-Length", "5")]),
    ],
)
def test_headers_fit_the_body_that_is_kept(
    received: list[list[str]], left: str | None, expected: list[tuple[str, str]]
) -> None:
    stored = {"response_headers": received, "content_encoding": left}
    assert response_headers(stored, 5) == expected


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ({"status": 200, "reason": "Fine", "http_version": "HTTP/1.0"}, ("HTTP/1.0", "200 Fine")),
        ({"status": 404}, ("HTTP/1.1", "404 Not Found")),
        ({"status": 999, "http_version": "h2"}, ("HTTP/1.1", "999")),
        ({"status": 200, "reason": "a\r\nb"}, ("HTTP/1.1", "200 a b")),
    ],
)
def test_the_status_line_is_one_that_readers_know(
    stored: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert status_line(stored) == expected


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("https://x.example", "GET / HTTP/1.1"),
        ("https://x.example/a?b=c", "GET /a?b=c HTTP/1.1"),
    ],
)
def test_the_request_line(url: str, line: str) -> None:
    assert request_line({"url": url, "method": "GET"}) == line


@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        (("2026-11-16T02:23:31.500+00:00",), "2026-11-16T02:23:31.500Z"),
        (("2026-11-16T03:23:31+01:00",), "2026-11-16T02:23:31.000Z"),
        ((None, "nonsense", "2026-11-16T02:23:31+00:00"), "2026-11-16T02:23:31.000Z"),
        ((None,), "1970-01-01T00:00:00Z"),
    ],
)
def test_dates_are_in_utc(moments: tuple[str | None, ...], expected: str) -> None:
    assert date_of(*moments) == expected


def test_metadata_is_lines_whatever_a_title_says() -> None:
    page = {"depth": 0, "title": "a\r\nWARC/1.1", "redirected_from": ["u", "v"], "error": None}
    text = metadata(page, {"contentHash": None, "more": "\udc80"}).decode()
    assert text.split("\r\n") == [
        "depth: 0",
        "title: a WARC/1.1",
        "redirectedFrom: u",
        "redirectedFrom: v",
        "more: \ufffd",
        "",
    ]


def test_metadata_says_that_a_body_is_what_scripts_have_made() -> None:
    assert metadata({"depth": 0, "rendered": False}, {}) == b"depth: 0\r\n"
    assert metadata({"depth": 0, "rendered": True}, {}) == b"depth: 0\r\nrendered: true\r\n"


def test_the_same_record_has_the_same_id() -> None:
    assert record_id("response", "u", 1) == record_id("response", "u", 1)
    assert record_id("response", "u", 1) != record_id("request", "u", 1)
