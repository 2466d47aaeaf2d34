from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.report import failures
from tests.report.making import Crawl

if TYPE_CHECKING:
    from crawlproject.report.lists import Listing


def listings(crawl: Crawl) -> dict[str, Listing]:
    survey = crawl.survey()
    sections = (failures.broken(survey), failures.blocked(survey))
    return {listing.name: listing for section in sections for listing in section.listings}


def test_broken_pages_come_with_the_pages_that_link_to_them_the_most_linked_first() -> None:
    crawl = Crawl()
    crawl.page("/", "/gone", "/lost", depth=0)
    crawl.page("/a", "/lost", "/old-lost")
    crawl.redirect("/old-lost", "/lost")
    crawl.broken("/gone")
    crawl.broken("/lost", 500)
    broken = listings(crawl)["broken"]
    assert broken.rows == [
        (crawl.id("/lost"), "500 Internal Server Error", 2, [crawl.id("/"), crawl.id("/a")]),
        (crawl.id("/gone"), "404 Not Found", 1, [crawl.id("/")]),
    ]
    assert broken.total == 2
    assert [issue.number for issue in broken.issues] == [2]


def test_blocked_and_denied_pages_are_told_apart_from_broken_ones() -> None:
    crawl = Crawl()
    crawl.page("/", "/vault", "/busy", "/secret", "/private", "/gone", depth=0)
    crawl.broken("/vault", 401)
    crawl.broken("/busy", 429)
    crawl.broken("/secret", 403)
    crawl.broken("/gone")
    crawl.page("/private", status_code=None, error="robots")
    found = listings(crawl)
    paths = {
        name: crawl.paths(*(row[0] for row in found[name].rows))
        for name in found
        if name != "robots"
    }
    assert paths == {
        "broken": ["/gone"],
        "blocked": ["/vault", "/busy", "/secret"],
        "denied": ["/private"],
    }


def test_what_nothing_links_to_has_the_page_by_which_it_was_found() -> None:
    crawl = Crawl()
    crawl.broken("/gone")
    crawl.url("/gone", 3, referrer=crawl.id("/dropped"))
    (row,) = listings(crawl)["broken"].rows
    assert row[2:] == (0, [crawl.id("/dropped")])


def test_refusals_of_a_teams_own_rule_have_a_list_of_their_own() -> None:
    crawl = Crawl()
    crawl.page("/a.pdf", status_code=None, error="no PDF: our own rule")
    assert [row[1] for row in listings(crawl)["refused"].rows] == ["no PDF"]
    assert "refused" not in listings(Crawl())


def test_what_became_of_each_robots_txt() -> None:
    crawl = Crawl()
    crawl.database.executemany(
        "INSERT INTO robots VALUES (?, ?, 5, 6, ?, 0)",
        [("https://a", b"x", None), ("https://b", None, None), ("https://c", None, "dns")],
    )
    assert listings(crawl)["robots"].rows == [
        ("https://a/robots.txt", "has rules", 5),
        ("https://b/robots.txt", "has no rules", 5),
        ("https://c/robots.txt", "could not be had: dns", 5),
    ]
