from __future__ import annotations

import pytest

from crawlproject.report.canonicals import section
from tests.report.making import SITE, Crawl


def conflicts(crawl: Crawl) -> set[tuple[str, str, str]]:
    (listing,) = section(crawl.survey()).listings
    found = set()
    for page, what, other, _ in listing.rows:
        (path,) = crawl.paths(page)
        found.add(
            (
                path,
                what,
                other if isinstance(other, str) else crawl.paths(other)[0] if other else "",
            )
        )
    return found


@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("/broken", "canonical is broken"),
        ("/blocked", "canonical is broken"),
        ("/private", "canonical is denied by robots.txt"),
        ("/refused", "canonical was not fetched"),
        ("/moved", "canonical redirects"),
        ("/hidden", "canonical is noindex"),
        ("/copy", "canonical names another"),
        ("/never-seen", "canonical was not fetched"),
        ("/queued", "canonical was not fetched"),
    ],
)
def test_a_canonical_link_that_leads_nowhere(target: str, what: str) -> None:
    crawl = Crawl()
    crawl.page("/", "/queued", depth=0)
    crawl.broken("/broken")
    crawl.broken("/blocked", 403)
    crawl.page("/private", status_code=None, error="robots")
    crawl.page("/refused", status_code=None, error="too dear: a rule of ours")
    crawl.redirect("/moved", "/")
    crawl.page("/hidden", noindex=True)
    crawl.page("/copy", canonical=f"{SITE}/")
    crawl.page("/page", canonical=f"{SITE}{target}")
    found = {one for one in conflicts(crawl) if one[0] == "/page"}
    shown = f"{SITE}{target}" if target == "/never-seen" else target
    assert found == {("/page", what, shown)}


def test_noindex_and_canonical_together_are_a_conflict() -> None:
    crawl = Crawl()
    crawl.page("/", depth=0)
    crawl.page("/page", canonical=f"{SITE}/", noindex=True)
    assert conflicts(crawl) == {("/page", "noindex and canonical", "/")}


def test_a_sitemap_should_name_pages_that_can_be_shown() -> None:
    crawl = Crawl()
    crawl.page("/", depth=0)
    crawl.page("/hidden", noindex=True)
    crawl.page("/copy", canonical=f"{SITE}/")
    crawl.redirect("/moved", "/")
    crawl.broken("/broken")
    crawl.broken("/vault", 401)
    crawl.page("/private", status_code=None, error="robots")
    names = ("/", "/hidden", "/copy", "/moved", "/broken", "/vault", "/private", "/never-fetched")
    crawl.sitemap("/sitemap.xml", *names)
    assert conflicts(crawl) == {
        ("/hidden", "noindex in a sitemap", ""),
        ("/copy", "in a sitemap, names another", "/"),
        ("/moved", "in a sitemap, redirects", "/"),
        ("/broken", "in a sitemap, broken", ""),
        ("/vault", "in a sitemap, blocked", ""),
        ("/private", "in a sitemap, denied by robots.txt", ""),
    }


def test_a_canonical_page_that_is_denied_is_not_said_to_be_in_order() -> None:
    crawl = Crawl()
    crawl.page("/", depth=0, canonical=f"{SITE}/private")
    crawl.page("/private", status_code=None, error="robots")
    (listing,) = section(crawl.survey()).listings
    passed = [issue.several for issue in listing.issues if not issue.number]
    assert not any("denie" in words or "not crawled" in words for words in passed)


def test_a_canonical_link_to_a_page_that_is_fine_is_fine() -> None:
    crawl = Crawl()
    crawl.page("/", depth=0)
    crawl.page("/copy", canonical=f"{SITE}/")
    assert conflicts(crawl) == set()


def test_without_a_sitemap_nothing_is_said_of_sitemaps() -> None:
    def words(crawl: Crawl) -> str:
        (listing,) = section(crawl.survey()).listings
        return " ".join(issue.several for issue in listing.issues)

    crawl = Crawl()
    crawl.page("/", depth=0)
    assert "sitemap" not in words(crawl)
    crawl.sitemap("/sitemap.xml", "/")
    assert "sitemap" in words(crawl)
