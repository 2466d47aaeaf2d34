from __future__ import annotations

import numpy as np
import pytest

from crawlproject.report.web import Web, page_ids
from tests.report.making import DONE, QUEUED, Crawl


def web_of(crawl: Crawl) -> Web:
    ids = page_ids(crawl.database)
    return Web(crawl.database, ids, np.full(len(ids), 9))


def inlinks(crawl: Crawl, web: Web, path: str) -> int:
    place = web.place_of(crawl.id(path))
    assert place is not None
    return int(web.inlinks[place])


def sources(crawl: Crawl, web: Web, path: str) -> list[str]:
    place = web.place_of(crawl.id(path))
    assert place is not None
    return crawl.paths(*page_ids(crawl.database)[web.first.of(place)].tolist())


def test_pages_that_link_to_a_page_are_counted_once_and_it_is_not_one_of_them() -> None:
    crawl = Crawl()
    crawl.page("/", "/a", "/b", "/", depth=0)
    crawl.page("/a", "/b", "/a")
    crawl.page("/b")
    web = web_of(crawl)
    assert [inlinks(crawl, web, path) for path in ("/", "/a", "/b")] == [0, 1, 2]
    assert sources(crawl, web, "/b") == ["/", "/a"]


def test_a_link_to_a_redirect_is_a_link_to_where_it_ends() -> None:
    crawl = Crawl()
    crawl.page("/", "/old", "/new", depth=0)
    crawl.page("/a", "/older")
    crawl.redirect("/older", "/old")
    crawl.redirect("/old", "/new")
    crawl.page("/new", "/old")
    web = web_of(crawl)
    # From / in two ways, and from the page itself.
    assert inlinks(crawl, web, "/new") == 2
    assert sources(crawl, web, "/new") == ["/", "/a"]
    assert web.place_of(crawl.id("/older")) == web.place_of(crawl.id("/new"))
    count, places = web.sources_of_redirect(crawl.id("/old"))
    assert (count, crawl.paths(*page_ids(crawl.database)[places].tolist())) == (2, ["/", "/new"])


def test_what_a_sitemap_names_is_no_link() -> None:
    crawl = Crawl()
    crawl.page("/", depth=0)
    crawl.page("/a")
    crawl.sitemap("/sitemap.xml", "/a", "/b")
    web = web_of(crawl)
    assert inlinks(crawl, web, "/a") == 0
    (sitemap,) = web.sitemaps
    assert crawl.paths(*sitemap.names.tolist()) == ["/a", "/b"]
    assert np.flatnonzero(web.in_sitemaps()).tolist() == [crawl.id("/a"), crawl.id("/b")]


def test_a_link_that_is_not_to_be_followed_passes_no_rank_on() -> None:
    crawl = Crawl()
    crawl.page("/", "/a", "/b", depth=0, nofollow=("/b",))
    crawl.page("/a", "/")
    crawl.page("/b", "/")
    web = web_of(crawl)
    assert inlinks(crawl, web, "/b") == 1
    home, a, b = web.rank()
    assert home > a > b
    assert home + a + b == pytest.approx(3)


def test_links_to_what_is_no_page_count_for_nothing() -> None:
    crawl = Crawl()
    crawl.page("/", "/queued", "https://other.example/", depth=0)
    web = web_of(crawl)
    assert web.inlinks.tolist() == [0]
    assert web.place_of(crawl.id("/queued")) is None
    assert web.rank().tolist() == [1]


def test_a_crawl_without_pages_has_no_links() -> None:
    web = web_of(Crawl())
    assert web.inlinks.tolist() == web.rank().tolist() == []


def test_links_of_pages_that_a_pipeline_has_dropped_count_for_nothing() -> None:
    crawl = Crawl()
    crawl.page("/", "/a", depth=0)
    crawl.page("/a", "/")
    crawl.database.execute("UPDATE pages SET record = ''")
    web = web_of(crawl)
    assert web.inlinks.tolist() == web.rank().tolist() == []


def test_a_redirect_that_waits_to_be_visited_again_is_one_still() -> None:
    crawl = Crawl()
    crawl.page("/", "/old", depth=0)
    crawl.redirect("/old", "/new")
    crawl.url("/old", QUEUED, again=DONE)
    crawl.page("/new")
    web = web_of(crawl)
    assert inlinks(crawl, web, "/new") == 1
    assert web.is_redirect(crawl.id("/old"))
    assert not web.is_redirect(crawl.id("/new"))
