from __future__ import annotations

from crawlproject.report.traps import MANY_QUERIES, section
from tests.report.making import SITE, Crawl


def test_what_was_turned_away_as_a_trap_is_told_by_rule_with_examples() -> None:
    crawl = Crawl()
    for day in range(20):
        crawl.skip(f"/cal/{day}", "prefix budget", "SCOPE_MAX_PAGES_PER_PREFIX=300 for /cal")
    crawl.skip("/a/a/a/a", "repeated path", "SCOPE_MAX_REPEATED_SEGMENTS=3")
    crawl.skip("https://other.example/", "offsite")
    traps, _ = section(crawl.survey()).listings
    calendar, circles = traps.rows
    assert calendar[:3] == (
        "a calendar, facets, searches or the like",
        "SCOPE_MAX_PAGES_PER_PREFIX=300 for /cal",
        20,
    )
    assert len(calendar[3]) == 10
    assert circles[3] == [crawl.id("/a/a/a/a")]
    assert [issue.number for issue in traps.issues] == [2]


def test_a_path_with_many_queries_is_worth_a_look() -> None:
    crawl = Crawl()
    for number in range(MANY_QUERIES):
        crawl.page(f"/list?page={number}")
        crawl.skip(f"https://other.example/?{number}", "offsite")
    for number in range(MANY_QUERIES - 1):
        crawl.page(f"/few?page={number}")
    _, variants = section(crawl.survey()).listings
    assert variants.rows == [(f"{SITE}/list", MANY_QUERIES, MANY_QUERIES)]


def test_its_figure_counts_the_pages_that_the_link_shows() -> None:
    crawl = Crawl()
    for number in range(MANY_QUERIES):
        crawl.page(f"/search?q={number}")
    crawl.redirect("/search?q=old", "/search?q=1")
    crawl.skip("/search?q=far", "depth")
    crawl.page("/search-help")
    crawl.page("/search")
    _, variants = section(crawl.survey()).listings
    assert variants.rows == [(f"{SITE}/search", MANY_QUERIES + 2, MANY_QUERIES)]
    assert variants.columns[2].link == "pages?path={url}%3F"
