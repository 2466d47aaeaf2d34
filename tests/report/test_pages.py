from __future__ import annotations

from crawlproject.report.document import sections_of
from crawlproject.report.page_columns import COLUMNS
from crawlproject.report.pages import PageParts
from tests.report.making import SITE, Crawl

# What the page makes of others.
MADE = {"page", "host"}


def parts_of(crawl: Crawl, most: int = 100) -> PageParts:
    survey = crawl.survey()
    listings = [listing for section in sections_of(survey) for listing in section.listings]
    return PageParts(survey, listings, most)


def test_a_part_has_every_column_of_every_page_by_url() -> None:
    crawl = Crawl()
    crawl.page("/b", canonical=f"{SITE}/a", language="de", structured_data=[{"type": "Offer"}])
    crawl.page("/a", "/b", depth=0, title="  Two\n words ")
    (part,) = parts_of(crawl)
    assert part["url"] == [f"{SITE}/a", f"{SITE}/b"]
    assert {*part} == {column.name for column in COLUMNS} - MADE | {"url", "texts"}
    assert all(len(values) == 2 for name, values in part.items() if name != "texts")
    assert part["title"][0] == "Two words"
    # Pages are numbers.
    assert (part["canonical"], part["sources"]) == ([None, 0], [[], [0]])
    assert part["depth"] == [0, 1]


def test_codes_have_their_words() -> None:
    crawl = Crawl()
    crawl.page("/a", language="de")
    crawl.broken("/b")
    parts = parts_of(crawl)
    (part,) = parts
    words = parts.words()
    assert [words["answer"][code] for code in part["answer"]] == ["200 OK", "404 Not Found"]
    assert [words["outcome"][code] for code in part["outcome"]] == ["fine", "broken"]
    assert [words["indexable"][code] for code in part["indexable"]] == ["yes", "error"]
    assert words["language"][part["language"][0]] == "de"


def test_a_page_has_all_types_of_its_data_as_codes() -> None:
    crawl = Crawl()
    names = [f"Type {number}" for number in range(9)]
    crawl.page("/a", structured_data=[{"type": name} for name in ["WebPage", *names]])
    crawl.page("/b", structured_data=[{"type": "One, or two"}, {"type": "WebPage"}])
    crawl.page("/c")
    parts = parts_of(crawl)
    (part,) = parts
    words = parts.words()["data"]
    found = [[words[code] for code in codes] for codes in part["data"]]
    assert found == [[*names, "WebPage"], ["One, or two", "WebPage"], []]


def test_beyond_the_bound_what_is_wrong_and_what_is_linked_most_stays() -> None:
    crawl = Crawl()
    paths = [f"/{number}" for number in range(50)]
    # Nothing is wrong with them: no list names them but those of the first.
    crawl.page("/", *paths, "/popular", "/gone", depth=0)
    for path in paths:
        crawl.page(path, "/popular")
    crawl.page("/popular")
    crawl.broken("/gone")
    parts = parts_of(crawl, most=3)
    (part,) = parts
    assert len(part["url"]) == 3
    assert f"{SITE}/gone" in part["url"]
    assert parts.numbers[crawl.id("/gone")] == part["url"].index(f"{SITE}/gone")
    assert (parts.numbers >= 0).sum() == 3


def test_a_url_that_is_no_page_is_a_text() -> None:
    crawl = Crawl()
    crawl.page("/a", canonical="https://elsewhere.example/")
    (part,) = parts_of(crawl)
    assert (part["canonical"], part["texts"]) == ([-1], ["https://elsewhere.example/"])


def test_texts_are_cut() -> None:
    crawl = Crawl()
    crawl.page("/" + "x" * 5_000, title="t" * 1_000_000, description="d" * 1_000_000)
    (part,) = parts_of(crawl)
    lengths = [len(part[name][0]) for name in ("url", "title", "description")]
    assert lengths == [2_000, 300, 200]
