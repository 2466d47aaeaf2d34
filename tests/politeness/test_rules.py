from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.robotstxt import ProtegoRobotParser, RobotParser
from scrapy.utils.test import get_crawler

from crawlproject.frontier.base import Robots
from crawlproject.politeness.parser import IndexedRobotParser
from crawlproject.politeness.rules import UNREADABLE, Rules, RulesBook, RulesReader, Verdicts

if TYPE_CHECKING:
    from typing import Self

URL = "http://a.com/x"


def reader(**settings: Any) -> RulesReader:
    return RulesReader(get_crawler(settings_dict=settings), "acmebot")


def read(body: bytes | None, error: str | None = None, **settings: Any) -> Rules:
    return reader(**settings).read("http://a.com", Robots(body, 0, 9, error), 9)


@pytest.mark.parametrize(
    ("body", "error", "allowed", "delay"),
    [
        (None, None, True, None),
        (b"", None, True, None),
        (b"User-agent: *\nDisallow: /x", None, False, None),
        (b"User-agent: *\nCrawl-delay: 1.5", None, True, 1.5),
        (b"User-agent: *\nCrawl-delay: 0", None, True, None),
        (b"User-agent: *\nCrawl-delay: 1e999", None, True, None),
        (b"User-agent: other\nCrawl-delay: 2", None, True, None),
        (None, "timeout", False, None),
    ],
)
def test_what_was_kept_is_read(
    body: bytes | None, error: str | None, allowed: bool, delay: float | None
) -> None:
    rules = read(body, error)
    assert (rules.allow(URL), rules.crawl_delay, rules.error) == (allowed, delay, error)


class Stumbling(RobotParser):
    """Stumbles over what it reads, or over what it is asked."""

    def __init__(self, body: bytes) -> None:
        if body == b"bad":
            raise ValueError("bad")

    @classmethod
    def from_crawler(cls, crawler: object, robotstxt_body: bytes) -> Self:
        return cls(robotstxt_body)

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        raise ValueError(url)

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        raise ValueError(user_agent)


def test_a_parser_that_stumbles_opens_no_doors() -> None:
    assert read(b"bad", ROBOTSTXT_PARSER=Stumbling).error == UNREADABLE
    rules = read(b"good", ROBOTSTXT_PARSER=Stumbling)
    assert (rules.error, rules.allow(URL), rules.crawl_delay) == (None, False, None)


def sized(size: int) -> Rules:
    return Rules(None, "acmebot", 9, size)


def test_the_rules_that_were_needed_last_are_kept() -> None:
    book = RulesBook(most_origins=2)
    book.put("a", sized(1))
    book.put("b", sized(1))
    book.get("a")
    book.put("c", sized(1))
    assert [origin for origin in "abc" if book.get(origin)] == ["a", "c"]


def test_rules_are_kept_as_far_as_their_text_has_room() -> None:
    book = RulesBook(most_bytes=100)
    for origin in "abc":
        book.put(origin, sized(40))
    assert len(book) == 2
    book.put("c", sized(10))
    book.put("d", sized(50))
    assert [origin for origin in "abcd" if book.get(origin)] == ["b", "c", "d"]
    book.put("e", sized(1000))
    assert [origin for origin in "abcde" if book.get(origin)] == ["e"]
    book.drop("e")
    book.put("f", sized(90))
    book.put("g", sized(10))
    assert len(book) == 2


def test_a_hundred_thousand_hosts_need_no_more_room_than_a_few_thousand() -> None:
    book = RulesBook()
    for number in range(100_000):
        book.put(str(number), sized(0))
    assert len(book) == 4096


@pytest.mark.parametrize(
    ("settings", "parser"),
    [
        # A project that names our scheduler alone has Scrapy's default.
        ({}, IndexedRobotParser),
        ({"ROBOTSTXT_PARSER": "scrapy.robotstxt.ProtegoRobotParser"}, ProtegoRobotParser),
    ],
)
def test_scrapys_parser_is_used_if_it_is_asked_for(
    settings: dict[str, Any], parser: type[RobotParser]
) -> None:
    assert type(read(b"User-agent: *", **settings)._parser) is parser


class Counting(Stumbling):
    """Allows what it is asked about for the first time."""

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        self.asked = getattr(self, "asked", 0) + 1
        return self.asked == 1

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        return None


def test_a_verdict_is_kept_with_the_rules_that_it_comes_from() -> None:
    some = reader(ROBOTSTXT_PARSER=Counting)
    old, new = (some.read("http://a.com", Robots(b"", 0, 9), 9) for _ in range(2))
    assert [old.allow(URL), old.allow(URL), old.allow(f"{URL}y")] == [True, True, False]
    assert [new.allow(f"{URL}y"), new.allow(URL), new.allow(f"{URL}y")] == [True, False, True]


def test_verdicts_are_few_and_the_ones_that_were_needed_last() -> None:
    verdicts = Verdicts(most=2)
    for url in "ab":
        verdicts.put(1, url, True)
    assert verdicts.get(1, "a")
    verdicts.put(1, "c", False)
    assert [verdicts.get(1, url) for url in "abc"] == [True, None, False]
    assert verdicts.get(2, "a") is None
    assert len(verdicts) == 2
