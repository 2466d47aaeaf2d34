from __future__ import annotations

import pytest

from crawlproject.sitemaps.gathering import Gathering, hint_of
from crawlproject.sitemaps.hints import Cut
from crawlproject.urls.canonical import canonicalize
from crawlproject.urls.link_bounds import LONGEST_BASE, MAX_RECORDED, LinkBounds
from tests.sitemaps.reading import HOME, NOTHING

OLD, NEW = "2025-01-01", "2025-01-01T00:00:01Z"


@pytest.fixture
def gathering() -> Gathering:
    return Gathering(canonicalize, 3)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("/a", f"{HOME}a"),
        (" https://a.example/b#c ", f"{HOME}b"),
        ("HTTPS://A.example:443/?utm_source=x", HOME),
        ("", None),
        ("  ", None),
        ("mailto:a@b.example", None),
        ("https://", None),
        ("/caf\ufffd", None),
        ("/" + "x" * 10_000, None),
    ],
)
def test_a_url_is_canonical_or_none(gathering: Gathering, text: str, url: str | None) -> None:
    assert gathering.resolve(text, HOME) == url


def test_the_first_that_is_said_counts_but_of_dates_the_newest(gathering: Gathering) -> None:
    first = NOTHING._replace(lastmod=OLD, priority=0.1)
    gathering.add(HOME, first)
    gathering.add(HOME, NOTHING._replace(lastmod=NEW, priority=0.9))
    gathering.add(HOME, NOTHING._replace(lastmod=OLD))
    gathering.add(HOME, NOTHING)
    assert gathering.urls == {HOME: first._replace(lastmod=NEW)}
    gathering.add_nested(HOME, OLD)
    gathering.add_nested(HOME, NEW)
    gathering.add_nested(HOME, None)
    assert gathering.nested == {HOME: NEW}


def test_there_are_not_more_than_the_limit(gathering: Gathering) -> None:
    gathering.add(f"{HOME}1", NOTHING)
    gathering.add(f"{HOME}2", NOTHING)
    gathering.add_nested(f"{HOME}3", None)
    gathering.add(f"{HOME}1", NOTHING)
    gathering.add_nested(f"{HOME}3", OLD)
    with pytest.raises(Cut, match="more than 3 URLs"):
        gathering.add(f"{HOME}4", NOTHING)
    with pytest.raises(Cut, match="more than 3 URLs"):
        gathering.add_nested(f"{HOME}4", None)
    assert (len(gathering.urls), len(gathering.nested)) == (2, 1)


@pytest.mark.parametrize(
    ("text", "priority"),
    [("0.8", 0.8), ("0", 0), ("1.0", 1), (" .5 ", 0.5)]
    + [(text, None) for text in ("", "high", "1.1", "-0.1", "nan", "inf", "0,8", "9" * 5_000)],
)
def test_a_priority_is_from_0_to_1(text: str, priority: float | None) -> None:
    assert hint_of({"priority": text}, {}, []).priority == priority


@pytest.mark.parametrize(
    ("text", "changefreq"),
    [("daily", "daily"), ("Weekly", "weekly"), ("sometimes", None), ("", None)],
)
def test_a_change_frequency_is_one_of_seven(text: str, changefreq: str | None) -> None:
    assert hint_of({"changefreq": text}, {}, []).changefreq == changefreq


@pytest.mark.parametrize(
    ("said", "lastmod"),
    [
        ({"lastmod": NEW, "published": OLD}, NEW),
        ({"lastmod": OLD, "published": NEW}, OLD),
        ({"lastmod": "today", "published": OLD}, OLD),
        ({"published": OLD}, OLD),
        ({}, None),
    ],
)
def test_what_tells_no_change_was_published(said: dict[str, str], lastmod: str | None) -> None:
    assert hint_of(said, {}, []).lastmod == lastmod


def test_urls_have_a_bound_together_and_each() -> None:
    room = LinkBounds(url=30, page=1_000).room()
    gathering = Gathering(canonicalize, 1_000, room)
    for number in range(MAX_RECORDED + 3):
        gathering.add(f"{HOME}{'x' * 30}{number}", NOTHING)
    # A sitemap is fetched, so one that is too long is not worth a record.
    gathering.add_nested(f"{HOME}{'x' * 30}", None)
    assert (len(gathering.urls), gathering.nested, room.too_long) == (MAX_RECORDED, {}, 4)
    # Known or not, it may be said again and again, as alternates are.
    for number in range(1_000 // len(f"{HOME}0")):
        gathering.resolve(f"/{number % 3}", HOME)
    with pytest.raises(Cut, match="more than 1,000 characters in all"):
        gathering.resolve("/0", HOME)


def test_a_base_does_not_grow_without_end(gathering: Gathering) -> None:
    base = HOME
    for _ in range(100):
        base = gathering.resolve("d" * 500 + "/", base) or base
    assert len(base) <= LONGEST_BASE
