"""Which format an output has, and what it needs of the crawl."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.settings import Settings

from crawlproject.exports.formats import complete_feeds, format_of, with_format


@pytest.mark.parametrize(
    ("uri", "options", "expected"),
    [
        ("pages.json", {}, "json"),
        ("pages.json.gz", {}, "gz"),
        ("a/pages.warc.gz", {}, "warc.gz"),
        ("PAGES.WARC.GZ", {}, "warc.gz"),
        ("pages.warc", {}, "warc"),
        ("pages.warc.gz", {"format": "json"}, "json"),
        ("pages", {"format": "warc.gz"}, "warc.gz"),
        ("pages", {}, ""),
    ],
)
def test_the_format_follows_from_the_name(uri: str, options: dict[str, Any], expected: str) -> None:
    assert format_of(uri, options) == expected


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("pages.warc.gz", "pages.warc.gz:warc.gz"),
        ("pages.warc", "pages.warc"),
        ("pages.json", "pages.json"),
        ("-:warc.gz", "-:warc.gz"),
        ("x:warc.gz", "x:warc.gz"),
    ],
)
def test_the_command_line_is_told_what_scrapy_would_not_see(output: str, expected: str) -> None:
    assert with_format(output) == expected


def test_an_archive_switches_the_store_on() -> None:
    settings = Settings({"STORE_BODIES": False}, priority="project")
    settings.set("FEEDS", {"a.json": {"format": "json"}, "b.warc.gz": {}}, priority="cmdline")
    complete_feeds(settings)
    assert settings.getbool("STORE_BODIES")
    assert settings.getdict("FEEDS") == {
        "a.json": {"format": "json"},
        "b.warc.gz": {"format": "warc.gz"},
    }


def test_another_output_does_not() -> None:
    settings = Settings({"STORE_BODIES": False, "FEEDS": {"a.json": {}, "b": None}})
    complete_feeds(settings)
    assert not settings.getbool("STORE_BODIES")
    assert settings.getdict("FEEDS") == {"a.json": {}, "b": None}
