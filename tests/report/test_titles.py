from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.report.titles import section
from tests.report.making import Crawl

if TYPE_CHECKING:
    from crawlproject.report.lists import Listing


def listings(crawl: Crawl) -> dict[str, Listing]:
    return {listing.name: listing for listing in section(crawl.survey()).listings}


def test_pages_without_title_description_or_heading_are_listed_the_most_linked_first() -> None:
    crawl = Crawl()
    crawl.page("/", "/b", depth=0)
    crawl.page("/a", title=None, description=None, headings=[])
    crawl.page("/b", title=None, description="", headings=[{"level": 2, "text": "x"}])
    found = listings(crawl)
    for name in ("no-title", "no-description", "no-heading"):
        assert crawl.paths(*(row[0] for row in found[name].rows)) == ["/b", "/a"], name
        assert [issue.number for issue in found[name].issues] == [2]


def test_titles_that_several_pages_have_come_with_these_pages() -> None:
    crawl = Crawl()
    for path, title in (
        ("/a", "One"),
        ("/b", "Two "),
        ("/c", " One"),
        ("/d", "Two"),
        ("/e", "One"),
    ):
        crawl.page(path, title=title, description="The same")
    found = listings(crawl)
    ids = [crawl.id(path) for path in ("/a", "/c", "/e", "/b", "/d")]
    assert found["same-title"].rows == [("One", 3, ids[:3]), ("Two", 2, ids[3:])]
    assert [row[:2] for row in found["same-description"].rows] == [("The same", 5)]


def test_pages_that_search_engines_must_not_show_may_have_any_title() -> None:
    crawl = Crawl()
    crawl.page("/a", title="One")
    crawl.page("/b", title="One", noindex=True)
    crawl.page("/c", title="One", canonical="https://site.example/a")
    crawl.page("/d", title=None, content_type="image/png")
    crawl.broken("/e")
    found = listings(crawl)
    assert {name: listing.total for name, listing in found.items()} == dict.fromkeys(found, 0)


def test_what_was_not_looked_at_is_said() -> None:
    crawl = Crawl()
    crawl.page("/a", word_count=None, headings=[])
    found = section(crawl.survey())
    assert "no-heading" not in {listing.name for listing in found.listings}
    assert any("PAGES_CONTENT" in note for note in found.notes)
    crawl = Crawl()
    crawl.page("/a", headings=[])
    assert any("not recorded" in note for note in section(crawl.survey()).notes)


def test_a_title_is_cut() -> None:
    crawl = Crawl()
    crawl.page("/a", title="x" * 1_000_000)
    crawl.page("/b", title="x" * 1_000_000)
    ((title, count, _),) = listings(crawl)["same-title"].rows
    assert (len(title), count) == (300, 2)
