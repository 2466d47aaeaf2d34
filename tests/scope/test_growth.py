from __future__ import annotations

import pytest

from crawlproject.scope.growth import growing
from crawlproject.scope.scope import Scope
from crawlproject.scope.traps import Traps
from crawlproject.urls.canonical import canonicalize

SITE = "https://example.com"


def growing_on(page: str, *links: str) -> set[str]:
    urls = [canonicalize(link, SITE + page) for link in links]
    return {url.removeprefix(SITE) for url in growing(SITE + page, urls)}


@pytest.mark.parametrize(
    ("page", "links", "found"),
    [
        ("/a/b/", ["a/", "b/", "c/"], {"/a/b/a/", "/a/b/b/", "/a/b/c/"}),
        ("/a/b/", ["a/", "b/", "/about", "/a/", "."], {"/a/b/a/", "/a/b/b/"}),
        ("/x/a/b/index.html", ["a/i.html", "b/i.html"], {"/x/a/b/a/i.html", "/x/a/b/b/i.html"}),
        ("/a/b/", ["a/b/"], {"/a/b/a/b/"}),
        ("/a/a/", ["a/", "b/"], {"/a/a/a/", "/a/a/b/"}),
        ("/a/b", ["/a/b/a", "/a/b/b"], {"/a/b/a", "/a/b/b"}),
        ("/a/b/c/", ["../a/x/", "../b/x/"], {"/a/b/a/x/", "/a/b/b/x/"}),
        ("/a/b/?n=1", ["a/?n=1", "b/?n=1"], {"/a/b/a/?n=1", "/a/b/b/?n=1"}),
    ],
)
def test_links_to_both_directories_that_a_page_is_in_make_its_path_longer(
    page: str, links: list[str], found: set[str]
) -> None:
    assert growing_on(page, *links) == found


@pytest.mark.parametrize(
    ("page", "links"),
    [
        ("/", ["a/", "b/"]),
        ("/a/", ["a/", "b/"]),
        ("/a/b/", ["b/", "c/", "/a/", "/b/"]),
        ("/django/django", ["/django/django/issues", "/django/django/tree/main/django"]),
        ("/scrapy/scrapyd", ["/scrapy/scrapyd/tree/main/scrapyd", "/scrapy/scrapy/issues/1"]),
        ("/board/3/4/", ["3/", "4/", "5/"]),
        ("/2026/11/", ["11/", "12/"]),
        ("/a/a", ["/a/a/a", "/a/a/", "/a/a"]),
        ("/a/b/", []),
    ],
)
def test_links_of_real_sites_do_not(page: str, links: list[str]) -> None:
    assert growing_on(page, *links) == set()


def test_the_reason_names_the_setting_and_a_seed_is_never_skipped() -> None:
    links = [f"{SITE}/a/b/a/", f"{SITE}/a/b/b/"]
    scope = Scope(links[:1], traps=Traps(max_repeated_segments=3))
    reason = "growing path: SCOPE_MAX_REPEATED_SEGMENTS=3"
    assert scope.reasons_on(f"{SITE}/a/b/", links) == {links[1]: reason}
    assert Scope([SITE]).reasons_on(f"{SITE}/a/b/", links) == {}
