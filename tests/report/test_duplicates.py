from __future__ import annotations

from typing import Any

import pytest

from crawlproject.pipelines.parameters import SignatureParameters
from crawlproject.report.duplicates import section
from tests.report.making import SITE, Crawl

TEXT = " ".join(f"word{number}" for number in range(300))


def content(crawl: Crawl, path: str, body: bytes, text: str | None = None) -> None:
    signature = None if text is None else SignatureParameters().sign_text(text)
    crawl.database.execute(
        "INSERT INTO contents VALUES (?, ?, ?)", (crawl.id(path), body, signature)
    )


def crawl_with_copies(**fields: Any) -> Crawl:
    crawl = Crawl()
    crawl.page("/", "/a", "/b", "/c", depth=0)
    crawl.page("/a")
    crawl.page("/b", **fields)
    crawl.page("/c")
    content(crawl, "/a", b"1", TEXT)
    content(crawl, "/b", b"1", TEXT)
    content(crawl, "/c", b"2", TEXT.replace("word299", "other"))
    return crawl


def test_pages_that_are_the_same_or_almost_are_told_by_cluster_and_by_page() -> None:
    crawl = crawl_with_copies()
    clusters, pages = section(crawl.survey()).listings
    first, b, c = crawl.id("/a"), crawl.id("/b"), crawl.id("/c")
    assert clusters.rows == [(first, 3, 1, 1, [b, c])]
    same, almost = pages.rows
    assert same == (b, "same body", 1.0, first, 3, 1)
    assert almost[:2] == (c, "almost the same text")
    assert 0.9 < almost[2] < 1
    assert [issue.number for issue in pages.issues] == [1, 1]


def test_a_copy_that_names_its_original_is_no_issue() -> None:
    crawl = crawl_with_copies(canonical="https://site.example/a")
    _, pages = section(crawl.survey()).listings
    assert pages.total == 2
    assert [issue.number for issue in pages.issues] == [0, 1]


def test_a_copy_nearer_to_the_seed_that_names_its_original_is_no_issue() -> None:
    crawl = Crawl()
    crawl.page("/", "/copy", depth=0)
    crawl.page("/copy", "/real", canonical=f"{SITE}/real")
    crawl.page("/real", depth=2)
    content(crawl, "/copy", b"1")
    content(crawl, "/real", b"1")
    _, pages = section(crawl.survey()).listings
    assert pages.rows == [(crawl.id("/real"), "same body", 1.0, crawl.id("/copy"), 2, 0)]
    assert [issue.number for issue in pages.issues] == [0, 0]


@pytest.mark.parametrize("first", [{}, {"noindex": True}, {"canonical": f"{SITE}/d"}])
def test_of_each_cluster_one_page_may_be_shown_and_the_figure_counts_the_others(
    first: dict[str, Any],
) -> None:
    crawl = Crawl()
    crawl.page("/a", **first)
    for path in ("/b", "/c", "/d"):
        crawl.page(path, noindex=path == "/c")
    for path in ("/a", "/b", "/c", "/d"):
        content(crawl, path, b"1")
    _, pages = section(crawl.survey()).listings
    same, _ = pages.issues
    competing = [crawl.paths(row[0])[0] for row in pages.rows if row[5]]
    kept = first.get("canonical", "").removeprefix(SITE) or ("/b" if first else "/a")
    assert competing == [path for path in ("/b", "/d") if path != kept]
    assert (same.number, same.link) == (len(competing), "duplicates?how=same body&competes=1")


def test_where_pages_were_not_compared_it_is_said() -> None:
    crawl = crawl_with_copies()
    found = section(crawl.survey(is_compared=False))
    assert found.listings == []
    assert "were not compared" in found.notes[0]
    crawl.database.execute("DELETE FROM notes WHERE name = 'signatures'")
    assert "were not compared" in section(crawl.survey()).notes[0]
