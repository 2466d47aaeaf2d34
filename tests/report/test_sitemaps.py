from __future__ import annotations

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


def test_where_no_sitemap_was_read_it_is_said() -> None:
    crawl = Crawl()
    crawl.page("/", depth=0)
    found = section(crawl.survey())
    assert (found.listings, len(found.notes)) == ([], 1)
    assert "No sitemap was read" in found.notes[0]
