"""What a hostile script can do: cost one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.defer import deferred_f_from_coro_f

from tests.browser import needs_browser
from tests.crawling import crawl_site
from tests.render.test_rendering import TEXT, rendered, running, script, titles

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

pytestmark = needs_browser

SHORT = {"RENDER_TIMEOUT_SECONDS": 6}
FINE = running("document.title = 'fine'")


REFUSED = ".catch(() => { document.title = 'refused' })"
# What each script is up to, and the title that says what came of it.
MISCHIEF = {
    "dialogs": ("alert(1); confirm(2); prompt(3); document.title = 'went on'", "went on"),
    "window": ("window.open('/window'); document.title = 'went on'", "went on"),
    "departure": ("document.title = 'stayed'; location = '/elsewhere'", "stayed"),
    "reload": ("document.title = 'stayed'; setInterval(() => location.reload(), 5)", "stayed"),
    "file": ("location = 'file:///etc/passwd'; document.title = 'stayed'", "stayed"),
    "close": ("window.close(); document.title = 'stayed'", "stayed"),
    "history": ("history.pushState({}, '', '/other'); document.title = 'stayed'", "stayed"),
    "unload": ("window.onbeforeunload = () => 'no'; document.title = 'stayed'", "stayed"),
    "metadata": (f"fetch('http://169.254.169.254/'){REFUSED}", "refused"),
    "neighbour": (f"fetch('http://127.0.0.2:{{port}}/'){REFUSED}", "refused"),
    "untrusted": (f"fetch('https://127.0.0.1:{{port}}/'){REFUSED}", "refused"),
    "deletion": (f"fetch('/', {{method: 'DELETE'}}){REFUSED}", "refused"),
    "socket": (
        "new WebSocket('ws://' + location.host + '/socket').onclose ="
        " () => { document.title = 'refused' }",
        "refused",
    ),
    "worker": (f"navigator.serviceWorker.register('/worker.js'){REFUSED}", None),
    "things": (
        "document.body.innerHTML = '<img src=/i.png><iframe src=/frame></iframe>"
        "<video src=/film></video><a href=/file download>x</a>';"
        "navigator.sendBeacon('/beacon'); new EventSource('/events');"
        "document.querySelector('a').click(); document.title = 'went on'",
        "went on",
    ),
}


@deferred_f_from_coro_f
async def test_what_is_not_needed_for_a_page_is_not_asked_for(site: SiteFactory) -> None:
    pages = {f"/{name}": running(code) for name, (code, _) in MISCHIEF.items()}
    spec = {"pages": {"/": {"links": list(pages), "text": TEXT}, **pages}}
    server = site(spec, all_loopback=True)
    crawled = await crawl_site(server.url(), SHORT, render="auto", depth="1")
    found = titles(crawled, server)
    assert {name: found[f"/{name}"] for name in MISCHIEF} == {
        name: title for name, (_, title) in MISCHIEF.items()
    }
    assert sorted(server.paths()) == sorted(["/", *pages])
    assert crawled.stats["render/pages"] == len(pages)


@deferred_f_from_coro_f
async def test_pages_that_never_end_stay_as_they_were_fetched(site: SiteFactory) -> None:
    hostile = {
        "/loop": running("for (;;);"),
        "/alerts": running("for (;;) alert('again')"),
        "/memory": running("const all = []; for (;;) all.push(new Array(1e6).fill(Math.random()))"),
        "/large": running("document.title = 'x'.repeat(400000)"),
    }
    server = site(
        {
            "pages": {
                "/": {"links": [*hostile, "/fine"], "text": TEXT},
                "/fine": FINE,
                **hostile,
            }
        }
    )
    crawled = await crawl_site(server.url(), {**SHORT, "DOWNLOAD_MAXSIZE": 200_000}, render="auto")
    assert {page.error for page in crawled.pages.values()} == {None}
    shown = rendered(crawled, server)
    assert shown == {"/": False, "/fine": True, **dict.fromkeys(shown.keys() - {"/fine"}, False)}
    assert titles(crawled, server)["/fine"] == "fine"
    assert crawled.stats["render/failed/too_large"] == 1


@deferred_f_from_coro_f
async def test_a_script_that_never_comes_keeps_a_page_for_a_while(site: SiteFactory) -> None:
    tag = '<script src="/hangs.js"></script>'
    server = site(
        {"pages": {"/": running("document.title = 'shown'", tag), "/hangs.js": {"hang": True}}}
    )
    crawled = await crawl_site(server.url(), {"RENDER_TIMEOUT_SECONDS": 12}, render="auto")
    assert titles(crawled, server) == {"/": "shown"}


@deferred_f_from_coro_f
async def test_a_page_has_so_many_requests(site: SiteFactory) -> None:
    code = "const more = () => fetch('/more').finally(more); more(); more()"
    server = site({"pages": {"/": running(code), "/more": {"body": "{}"}}})
    settings = {**SHORT, "RENDER_MAX_REQUESTS": 5}
    crawled = await crawl_site(server.url(), settings, render="auto")
    assert server.paths() == ["/"] + ["/more"] * 5
    assert crawled.stats["render/refused/too_many"] > 0


@deferred_f_from_coro_f
async def test_a_site_may_send_anything_as_a_script(site: SiteFactory) -> None:
    sources = {
        "/truncated.js": {"raw": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"},
        "/odd.js": {"raw": "SSH-2.0\r\n"},
        "/endless.js": {"endless": True},
        "/missing.js": {"status": 404},
        "/loop.js": {"redirect": "/loop.js"},
        "/error.js": script("throw new Error('oops')"),
        "/header.js": script("1") | {"headers": {"X-Odd": "caf\u00e9", "Content-Type": ""}},
    }
    tags = "".join(f'<script src="{path}"></script>' for path in sources)
    server = site({"pages": {"/": running("document.title = 'fine'", tags), **sources}})
    settings = {"DOWNLOAD_MAXSIZE": 200_000}
    crawled = await crawl_site(server.url(), settings, render="auto")
    assert titles(crawled, server) == {"/": "fine"}
