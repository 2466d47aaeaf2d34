from __future__ import annotations

from crawlproject.monitoring.ending import Limits
from crawlproject.report.sitemaps import section
from tests.report.making import SITE, Crawl


def test_orphans_and_pages_that_no_sitemap_names() -> None:
    crawl = Crawl()
    crawl.page("/", "/listed", "/unlisted", "/hidden", depth=0)
    crawl.page("/listed")
    crawl.page("/unlisted")
    crawl.page("/hidden", noindex=True)
    crawl.page("https://other.example/", title="Elsewhere, without a sitemap")
    crawl.orphan("/orphan")
    crawl.sitemap("/sitemap.xml", "/", "/listed", "/orphan")
    orphans, unlisted, sitemaps = section(crawl.survey()).listings
    assert orphans.rows == [(crawl.id("/orphan"),)]
    assert unlisted.rows == [(crawl.id("/unlisted"),)]
    assert sitemaps.rows == [(f"{SITE}/sitemap.xml", "done", 3, 3, 3)]
    assert [issue.number for issue in (*orphans.issues, *unlisted.issues)] == [1, 1]


def test_a_page_that_another_links_to_is_no_orphan_however_deep_that_one_is() -> None:
    crawl = Crawl()
    crawl.page("/", "/list", depth=0)
    crawl.page("/list", "/deep", "/moved", depth=1)
    crawl.redirect("/moved", "/behind")
    crawl.orphan("/deep")
    crawl.orphan("/behind")
    # Links of orphans lead nobody out.
    crawl.orphan("/alone", "/friend")
    crawl.orphan("/friend", "/alone")
    crawl.skip("/deeper", "depth", "DEPTH_LIMIT=1")
    crawl.sitemap("/sitemap.xml", "/deep", "/behind", "/alone", "/friend")
    found = section(crawl.survey(limits=Limits(depth=1)))
    orphans, *_ = found.listings
    assert crawl.paths(*(row[0] for row in orphans.rows)) == ["/alone", "/friend"]
    assert found.notes == [
        "1 URL is too deep (depth=1): what is called an orphan may be linked from there."
    ]


def test_orphans_that_nobody_is_to_find_are_no_issue() -> None:
    crawl = Crawl()
    crawl.page("/", depth=0)
    crawl.orphan("/lost")
    crawl.orphan("/hidden", noindex=True)
    crawl.orphan("/gone", status_code=404, error="unexpected status 404")
    crawl.orphan("/private", status_code=None, error="robots")
    crawl.sitemap("/sitemap.xml", "/", "/lost", "/hidden", "/gone", "/private")
    found = section(crawl.survey())
    orphans, *_ = found.listings
    (issue,) = orphans.issues
    assert (orphans.total, issue.number, issue.link) == (4, 1, "orphans?indexable=yes")
    assert found.notes == []


def test_what_is_not_yet_tried_may_link_to_orphans() -> None:
    crawl = Crawl()
    crawl.page("/", "/a", "/b", depth=0)
    crawl.orphan("/lost")
    crawl.sitemap("/sitemap.xml", "/lost")
    (note,) = section(crawl.survey()).notes
    assert note.startswith("2 URLs are not yet fetched: ")


def test_where_no_sitemap_was_read_it_is_said() -> None:
    crawl = Crawl()
    crawl.page("/", depth=0)
    found = section(crawl.survey())
    assert (found.listings, len(found.notes)) == ([], 1)
    assert "No sitemap was read" in found.notes[0]
