from __future__ import annotations

from scrapy.utils.test import get_crawler

from crawlproject.politeness.waits import Wait, Waits, waits_of


def wait(host: str, next_try_at: float, until: float | None = None) -> Wait:
    return Wait(host, "answered 503", next_try_at, until)


def hosts_at(waits: Waits, now: float) -> list[str]:
    return [wait.host for wait in waits.at(now)]


def test_the_host_that_is_tried_next_comes_first() -> None:
    waits = Waits()
    for host, next_try_at in (("a", 3), ("b", 1), ("a", 2)):
        waits.put(wait(host, next_try_at))
    assert hosts_at(waits, 0) == ["b", "a"]
    waits.drop("b")
    waits.drop("unknown")
    assert hosts_at(waits, 0) == ["a"]


def test_a_wait_that_nobody_ended_is_over_some_time_later() -> None:
    waits = Waits()
    waits.put(wait("a", 10))
    waits.put(wait("b", 10, 300))
    assert hosts_at(waits, 30) == ["a", "b"]
    assert hosts_at(waits, 60) == ["b"]
    assert hosts_at(waits, 400) == []


def test_there_are_not_more_than_anybody_reads() -> None:
    waits = Waits()
    for number in range(10_010):
        waits.put(wait(str(number), number))
    assert len(waits.at(0)) == 10_000


def test_a_crawl_has_its_own() -> None:
    crawler = get_crawler()
    waits_of(crawler).put(wait("a", 1))
    assert waits_of(crawler).at(0)
    assert not waits_of(get_crawler()).at(0)
