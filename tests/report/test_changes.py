from __future__ import annotations

from typing import Any

import pytest

from crawlproject.frontier.rounds import Round
from crawlproject.report.changes import section
from tests.report.making import BEGAN, Crawl


def second_round() -> Crawl:
    crawl = Crawl()
    crawl.note("round", Round(2, BEGAN + 50, "all", is_open=True)._asdict())
    return crawl


@pytest.mark.parametrize(
    "note", [None, {"number": 1, "began_at": BEGAN, "mode": "all"}, [], "x", {"number": 3}]
)
def test_a_first_crawl_has_nothing_to_compare_with(note: Any) -> None:
    crawl = Crawl()
    if note is not None:
        crawl.note("round", note)
    crawl.change("/a", "changed")
    found = section(crawl.survey())
    assert found.listings == []
    assert "first crawl" in found.notes[0]


def test_what_has_changed_since_the_last_crawl_the_worst_first() -> None:
    crawl = second_round()
    crawl.change("/new", "new")
    crawl.change("/gone", "gone", status_code=[200, 404])
    crawl.change("/a", "changed", title=["Old", "New"], redirects_to=[None, "https://x"])
    crawl.change("/before", "changed", seconds=0)
    (listing,) = section(crawl.survey()).listings
    at = BEGAN + 100
    assert listing.rows == [
        (crawl.id("/gone"), "gone", "status code", at, ["status code: 200 → 404"]),
        (crawl.id("/new"), "new", "", at, []),
        (
            crawl.id("/a"),
            "changed",
            "title, redirects to",
            at,
            ["title: Old → New", "redirects to: nothing → https://x"],
        ),
    ]
    assert (listing.total, listing.issues[0].number) == (3, 1)


def test_what_is_gone_and_what_failed_are_counted_apart_as_the_list_shows_them() -> None:
    crawl = second_round()
    for path in ("/a", "/b"):
        crawl.change(path, "gone")
    crawl.change("/c", "failed")
    (listing,) = section(crawl.survey()).listings
    for issue in listing.issues:
        wanted = issue.link.removeprefix("changes?kind=")
        assert issue.number == sum(row[1] == wanted for row in listing.rows)
    assert [issue.number for issue in listing.issues] == [2, 1]


def test_links_headings_and_the_main_text_are_told_in_words() -> None:
    crawl = second_round()
    gone = {"count": 1, "urls": ["https://x/old"]}
    come = {"count": 3, "urls": ["https://x/1", "https://x/2"]}
    headings = [[{"level": 1, "text": "A"}, {"level": 2, "text": "B"}], []]
    crawl.change("/a", "changed", links=[gone, come], content=[None, 0.934], headings=headings)
    (listing,) = section(crawl.survey()).listings
    assert listing.rows[0][2] == "links, main text, headings"
    assert listing.rows[0][4] == [
        "1 gone link: https://x/old",
        "3 new links: https://x/1, https://x/2, …",
        "main text: 93.4 % the same",
        "headings: A · B → nothing",
    ]


def test_nothing_has_changed() -> None:
    (listing,) = section(second_round().survey()).listings
    assert (listing.rows, listing.empty) == ([], "Nothing has changed since the last crawl.")


@pytest.mark.parametrize(
    "detail",
    [
        *("", "[]", "7", '{"title": 5}', '{"title": [1, 2, 3]}', '{"content": ["", "x"]}'),
        *('{"links": [1, {}]}', '{"links": [{"count": 1}, {"count": "", "urls": 7}]}'),
    ],
)
def test_a_detail_of_any_form_is_borne(detail: str) -> None:
    crawl = second_round()
    crawl.change("/a", "strange word")
    crawl.database.execute("UPDATE changes SET detail = ?", (detail,))
    (listing,) = section(crawl.survey()).listings
    assert listing.rows[0][1] == "strange word"
