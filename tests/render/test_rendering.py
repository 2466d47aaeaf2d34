"""A site that is made by scripts, crawled with a real browser and judged by its server's log."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from scrapy.utils.defer import deferred_f_from_coro_f

from tests.browser import needs_browser
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.crawling import Crawled
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

pytestmark = needs_browser

TEXT = "word " * 60
# The same document for every page, as a server of such sites has it.
SHELL = (
    "<!DOCTYPE html><html><head><title>Shop</title></head>"
    '<body><div id="root"></div><script src="/app.js"></script></body></html>'
)
APP = """
fetch('/api' + location.pathname)
  .then((answer) => answer.json())
  .then((page) => {
    document.title = page.title;
    document.getElementById('root').innerHTML =
      page.links.map((link) => `<a href="${link}">${link}</a>`).join(' ');
  });
"""


def script(code: str) -> dict[str, Any]:
    return {"body": code, "content_type": "text/javascript; charset=utf-8"}


def page(title: str, *links: str, **more: Any) -> dict[str, Any]:
    """What the application gets of its server."""
    body = json.dumps({"title": title, "links": links})
    return {"body": body, "content_type": "application/json", **more}


def running(code: str, rest: str = "") -> dict[str, Any]:
    """A page that is nothing but a script."""
    return {"body": f'<body><div id="root"></div>{rest}<script>{code}</script></body>'}


SHOP: dict[str, Any] = {
    "pages": {
        "/": {"body": SHELL},
        "/app.js": script(APP),
        "/api/": page("Home", "/tulips", "/about", "/price.txt"),
        "/tulips": {"body": SHELL},
        "/api/tulips": page("Tulips", "/", "/tulips/red"),
        "/tulips/red": {"body": SHELL},
        "/api/tulips/red": page("Red tulips"),
        "/about": {"title": "About", "text": TEXT, "links": ["/tulips"]},
        "/price.txt": {"body": "1 €", "content_type": "text/plain"},
    }
}


def rendered(crawled: Crawled, server: Site) -> dict[str, bool]:
    return {url[len(server.url("")) :]: page.rendered for url, page in crawled.pages.items()}


def titles(crawled: Crawled, server: Site) -> dict[str, str | None]:
    return {url[len(server.url("")) :]: page.title for url, page in crawled.pages.items()}


@deferred_f_from_coro_f
async def test_links_and_titles_that_scripts_make_are_found(site: SiteFactory) -> None:
    server = site(SHOP)
    crawled = await crawl_site(server.url(), render="auto")
    assert titles(crawled, server) == {
        "/": "Home",
        "/tulips": "Tulips",
        "/tulips/red": "Red tulips",
        "/about": "About",
        "/price.txt": None,
    }
    assert rendered(crawled, server) == {
        "/": True,
        "/tulips": True,
        "/tulips/red": True,
        "/about": False,
        "/price.txt": False,
    }
    assert crawled.pages[server.url("/tulips")].links == [
        server.url("/"),
        server.url("/tulips/red"),
    ]
    assert crawled.depths()[server.url("/tulips/red")] == 2
    assert crawled.stats["render/pages"] == 3


@deferred_f_from_coro_f
async def test_every_page_is_asked_for_once_and_a_shared_script_too(site: SiteFactory) -> None:
    server = site(SHOP)
    crawled = await crawl_site(server.url(), render="auto")
    assert sorted(server.paths()) == sorted(SHOP["pages"])
    assert {entry["user_agent"] for entry in server.log()} == {
        crawled.crawler.settings["USER_AGENT"]
    }
    headers = {name for entry in server.log() for name in entry["headers"]}
    assert not headers & {"cookie", "referer"}
    # Two of the three pages had the script from the shelf, and robots.txt is a request too.
    assert crawled.stats["render/requests"] == 4
    assert crawled.stats["render/requests_spared"] == 2
    assert crawled.stats["downloader/request_count"] == len(server.log())


@deferred_f_from_coro_f
async def test_by_default_nothing_is_rendered(site: SiteFactory) -> None:
    server = site(SHOP)
    crawled = await crawl_site(server.url())
    assert titles(crawled, server) == {"/": "Shop"}
    assert server.paths() == ["/"]
    # But the summary can say what was missed.
    assert crawled.stats["pages/scripted"] == 1


@deferred_f_from_coro_f
async def test_always_means_all_html_pages(site: SiteFactory) -> None:
    server = site(SHOP)
    crawled = await crawl_site(server.url(), render="always")
    assert rendered(crawled, server) == {
        "/": True,
        "/tulips": True,
        "/tulips/red": True,
        "/about": True,
        "/price.txt": False,
    }


@deferred_f_from_coro_f
async def test_the_delay_counts_from_the_end_of_all_that_a_page_asks_for(
    site: SiteFactory,
) -> None:
    spec = {"pages": {**SHOP["pages"], "/api/tulips": page("Tulips", "/tulips/red", delay=0.2)}}
    server = site(spec)
    await crawl_site(server.url(), render="auto", delay="0.3", concurrency="1")
    assert server.max_in_flight() == 1
    of_scripts = ("/app.js", "/api/")
    # One gap before each request but the first, which is robots.txt.
    for entry, gap in zip(server.log()[1:], server.gaps(), strict=True):
        if not entry["path"].startswith(of_scripts):
            assert gap >= 0.3, entry["path"]


@deferred_f_from_coro_f
async def test_robots_txt_speaks_to_scripts_too(site: SiteFactory) -> None:
    server = site({**SHOP, "robots": "User-agent: *\nDisallow: /api/tulips"})
    crawled = await crawl_site(server.url(), render="auto")
    assert titles(crawled, server)["/tulips"] == "Shop"
    assert "/api/" in server.paths()
    assert "/api/tulips" not in server.paths()
    assert crawled.stats["render/refused/robots"] == 1


@deferred_f_from_coro_f
async def test_a_script_can_lead_to_another_page(site: SiteFactory) -> None:
    server = site(
        {"pages": {"/": running("location.replace('/en/?a=1&b=2')"), "/en/": {"title": "Hello"}}}
    )
    crawled = await crawl_site(server.url(), render="auto")
    assert crawled.pages[server.url()].links == [server.url("/en/?a=1&b=2")]
    assert titles(crawled, server) == {"/": None, "/en/?a=1&b=2": "Hello"}
    assert server.paths() == ["/", "/en/?a=1&b=2"]


@deferred_f_from_coro_f
async def test_what_components_keep_to_themselves_is_read(site: SiteFactory) -> None:
    code = """
      customElements.define('shop-front', class extends HTMLElement {
        connectedCallback() {
          this.attachShadow({mode: 'open'}).innerHTML = '<a href="/inside">In the shop</a>';
        }
      });
    """
    server = site({"pages": {"/": running(code, "<shop-front></shop-front>"), "/inside": {}}})
    crawled = await crawl_site(server.url(), render="auto")
    assert crawled.pages[server.url()].links == [server.url("/inside")]


@deferred_f_from_coro_f
async def test_pages_share_neither_cookies_nor_storage(site: SiteFactory) -> None:
    code = """
      document.title = `${document.cookie} ${localStorage.length}`;
      document.cookie = 'visited=yes'; localStorage.setItem('visited', 'yes');
      document.getElementById('root').innerHTML = '<a href=/b>b</a>';
    """
    cookie = {"headers": {"Set-Cookie": "session=1"}}
    server = site({"pages": {"/": running(code) | cookie, "/b": running(code) | cookie}})
    crawled = await crawl_site(server.url(), render="auto")
    assert titles(crawled, server) == {"/": "0", "/b": "0"}


@deferred_f_from_coro_f
async def test_compressed_pages_other_charsets_and_redirected_scripts_work(
    site: SiteFactory,
) -> None:
    document = (
        '<meta charset="iso-8859-1"><body><div id="root"></div><p>Zürich</p>'
        '<script src="/old.js"></script></body>'
    )
    server = site(
        {
            "pages": {
                "/": {
                    "body_base64": b64encode(gzip.compress(document.encode("latin-1"))).decode(),
                    "content_type": "text/html",
                    "headers": {"Content-Encoding": "gzip"},
                },
                "/old.js": {"redirect": "/new.js"},
                "/new.js": script("document.title = document.querySelector('p').innerText + ' 東'"),
            }
        }
    )
    crawled = await crawl_site(server.url(), render="auto")
    assert titles(crawled, server) == {"/": "Zürich 東"}


@deferred_f_from_coro_f
async def test_beyond_the_budget_pages_stay_as_they_were_fetched(
    site: SiteFactory, tmp_path: Any
) -> None:
    server = site(SHOP)
    settings = {"RENDER_MAX_PAGES": 2, "JOBDIR": str(tmp_path / "job")}
    crawled = await crawl_site(server.url(), settings, render="auto", delay="0.01")
    assert titles(crawled, server)["/tulips/red"] == "Shop"
    assert crawled.stats["render/pages"] == 2
    assert crawled.stats["render/over_budget"] == 1
    # What earlier runs have spent is spent.
    server.set({"pages": {**SHOP["pages"], "/new": {"body": SHELL}}})
    again = await crawl_site(f"{server.url()} {server.url('/new')}", settings, render="auto")
    assert titles(again, server) == {"/new": "Shop"}
    assert again.stats["render/over_budget"] == 1
    assert "render/pages" not in again.stats
