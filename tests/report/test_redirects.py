from __future__ import annotations

from typing import Any

from crawlproject.report.redirects import section
from tests.report.making import Crawl


def rows(crawl: Crawl) -> list[dict[str, Any]]:
    (listing,) = section(crawl.survey()).listings
    names = [column.name for column in listing.columns]
    found = [dict(zip(names, row, strict=True)) for row in listing.rows]
    for row in found:
        row["url"], row["end"] = crawl.paths(row["url"], row["end"])
        row["way"], row["sources"] = crawl.paths(*row["way"]), crawl.paths(*row["sources"])
    return found


def test_chains_come_first_each_with_its_way_and_the_pages_that_link_to_it() -> None:
    crawl = Crawl()
    crawl.page("/", "/one", "/a", depth=0)
    crawl.page("/linking", "/one")
    crawl.redirect("/a", "/b")
    crawl.redirect("/b", "/end", 302)
    crawl.redirect("/one", "/end")
    crawl.page("/end")
    chain, one, b = rows(crawl)
    assert chain == {
        "url": "/a",
        "status": "301",
        "kind": "chain",
        "hops": 2,
        "end": "/end",
        "answer": "200 OK",
        "linked": 1,
        "way": ["/b", "/end"],
        "sources": ["/"],
    }
    assert (one["url"], one["kind"], one["linked"]) == ("/one", "one hop", 2)
    assert one["sources"] == ["/", "/linking"]
    assert (b["url"], b["status"], b["linked"], b["sources"]) == ("/b", "302", 0, [])


def test_a_loop_is_told_for_all_that_are_in_it_and_lead_to_it() -> None:
    crawl = Crawl()
    crawl.page("/", "/in", depth=0)
    crawl.redirect("/in", "/x")
    crawl.redirect("/x", "/y")
    crawl.page("/y", status_code=None, error="redirect loop")
    crawl.url("/y", 3, target=crawl.id("/x"))
    found = {row["url"]: row for row in rows(crawl)}
    assert {row["kind"] for row in found.values()} == {"loop"}
    assert found["/in"]["way"] == ["/x", "/y"]
    assert found["/y"]["way"] == ["/x", "/y"]
    assert found["/in"]["answer"] == "redirect loop"


def test_a_redirect_out_of_scope_leaves_the_crawl() -> None:
    crawl = Crawl()
    crawl.page("/away", "https://other.example/", status_code=302, title=None)
    (row,) = rows(crawl)
    assert (row["kind"], row["end"]) == ("leaves the crawl", "https://other.example/")
    assert (row["status"], row["answer"]) == ("302", "not fetched")


def test_the_issues_count_loops_chains_and_redirects_that_are_linked_to() -> None:
    crawl = Crawl()
    crawl.page("/", "/a", "/c", depth=0)
    crawl.redirect("/a", "/b")
    crawl.redirect("/b", "/end")
    crawl.redirect("/c", "/end")
    crawl.page("/end")
    (listing,) = section(crawl.survey()).listings
    assert [issue.number for issue in listing.issues] == [0, 1, 2]
    assert listing.total == 3


def test_without_redirects_there_is_none() -> None:
    crawl = Crawl()
    crawl.page("/", "/a", depth=0)
    assert rows(crawl) == []
