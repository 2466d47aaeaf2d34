from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from crawlproject.frontier.base import NOFOLLOW, Candidate, Robots, State
from crawlproject.frontier.entry import Wait
from crawlproject.frontier.notes import ADDED_FIELDS, SEEDS, STARTED_AT
from crawlproject.frontier.questions import Lead, Questions, Step
from crawlproject.scope.traps import Budget
from tests.commands.inquiring import Crawl, url

if TYPE_CHECKING:
    from pathlib import Path

    from crawlproject.frontier.questions import Known


def questions(crawl: Crawl) -> Questions:
    return Questions(crawl.frontier.read().database)


def known(crawl: Crawl, path: str) -> Known:
    found = questions(crawl).find(url(path))
    assert found is not None
    return found


def test_a_url_is_found_by_its_canonical_form_only(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    assert known(crawl, "/").state is State.QUEUED
    assert questions(crawl).find(url("/other")) is None
    crawl.close()


def test_the_way_leads_from_the_seed_over_links_and_redirects(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", "/old", "/a")
    crawl.redirect("/old", "/older")
    crawl.fetch("/a")
    crawl.redirect("/older", "/new")
    crawl.fetch("/new", "/end")
    assert questions(crawl).way(known(crawl, "/end")) == [
        Step(url("/"), Lead.SEED),
        Step(url("/old"), Lead.LINK),
        Step(url("/older"), Lead.REDIRECT),
        Step(url("/new"), Lead.REDIRECT),
        Step(url("/end"), Lead.LINK),
    ]
    assert questions(crawl).targets(known(crawl, "/old")) == [url("/older"), url("/new")]
    assert questions(crawl).sources(known(crawl, "/new")) == [url("/old"), url("/older")]
    crawl.close()


def test_the_way_of_a_spiders_own_request_begins_with_it(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.frontier.admit([Candidate(url("/own"))], depth=3)
    assert questions(crawl).way(known(crawl, "/own")) == [Step(url("/own"), Lead.REQUEST)]
    crawl.close()


def test_a_redirect_loop_is_told_until_it_is_closed(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, "/a")
    crawl.redirect("/a", "/b")
    crawl.redirect("/b", "/a")
    assert questions(crawl).targets(known(crawl, "/b")) == [url("/a"), url("/b")]
    assert [step.url for step in questions(crawl).way(known(crawl, "/b"))] == [
        url("/a"),
        url("/b"),
    ]
    crawl.close()


def test_the_page_comes_without_its_links(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", "/a")
    page = questions(crawl).page(known(crawl, "/"))
    assert page is not None
    assert (page["status_code"], page["title"], "links" in page) == (200, "Page /", False)
    assert questions(crawl).page(known(crawl, "/a")) is None
    crawl.close()


def test_a_page_that_a_pipeline_dropped_is_none(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    lease = crawl.frontier.take(0)
    assert lease is not None
    lease.found = [Candidate(url("/a"))]
    crawl.frontier.finish(lease)
    assert known(crawl, "/").state is State.DONE
    assert questions(crawl).page(known(crawl, "/")) is None
    crawl.close()


def test_those_before_a_url_are_of_its_host_and_may_be_taken(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, "/1", "/2", "https://other.example/", "/3")
    lease = crawl.frontier.take(0)
    assert lease is not None
    assert questions(crawl).ahead(known(crawl, "/3")) == 1
    assert questions(crawl).in_flight(known(crawl, "/3")) == 1
    crawl.frontier.release(lease, until=50)
    assert known(crawl, "/1").due == 50
    assert questions(crawl).ahead(known(crawl, "/3")) == 1
    crawl.close()


def test_a_url_of_a_group_with_a_budget_waits_for_those_above(tmp_path: Path) -> None:
    group = (Budget("prefix g", 5, "prefix budget"),)
    crawl = Crawl(tmp_path, budgets=lambda url: group if "/cal" in url else ())
    crawl.fetch("/", "/a", "/b")
    crawl.fetch("/a", "/cal/1")
    waiting = known(crawl, "/cal/1")
    assert waiting.waits is Wait.LEVEL
    assert questions(crawl).ahead(waiting) == 1
    crawl.fetch("/b")
    assert known(crawl, "/cal/1").waits is Wait.NOTHING
    crawl.close()


def test_those_beyond_the_page_budget_are_counted_among_themselves(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, budget=1)
    crawl.fetch("/", "/a", "/b", "/c")
    last = known(crawl, "/c")
    assert last.waits is Wait.BUDGET
    assert questions(crawl).ahead(last) == 2
    crawl.close()


def test_a_url_that_was_never_queued_has_a_host_by_name(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", Candidate(url("/no"), NOFOLLOW))
    crawl.frontier.set_min_delay("site.example", 5)
    facts = questions(crawl).host(known(crawl, "/no"), "site.example")
    assert facts is not None
    assert (facts.requests, facts.insisted) == (1, 5)
    assert questions(crawl).host(None, "other.example") is None
    crawl.close()


@pytest.mark.parametrize(
    ("body", "expected"), [(b"User-agent: *\n" * 1000, b""), (None, None)], ids=["rules", "none"]
)
def test_of_robots_txt_it_is_known_whether_it_has_text(
    tmp_path: Path, body: bytes | None, expected: bytes | None
) -> None:
    crawl = Crawl(tmp_path)
    crawl.frontier.keep_robots("https://site.example", Robots(body, 1, 2, "timeout", 3))
    assert questions(crawl).robots("https://site.example") == Robots(expected, 1, 2, "timeout", 3)
    assert questions(crawl).robots("https://other.example") is None
    crawl.close()


@pytest.mark.parametrize("value", ["{", "{}", "[1]", "null"])
def test_notes_of_a_stranger_are_errors_of_the_database(tmp_path: Path, value: str) -> None:
    crawl = Crawl(tmp_path)
    reader = crawl.frontier.read()
    for name, ask in (
        (SEEDS, reader.seeds),
        (ADDED_FIELDS, reader.added_fields),
        (STARTED_AT, reader.started_at),
    ):
        crawl.frontier.remember(name, value)
        crawl.frontier.commit()
        with pytest.raises(sqlite3.DatabaseError, match=name):
            ask()
    crawl.close()
