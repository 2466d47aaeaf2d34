"""The live page, in a real Chromium: a crawl is started from the form, watched, and read."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect, sync_playwright

from crawlproject.demo.server import serve
from tests.browser import BROWSER, needs_browser
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

    from tests.service.serving import Service
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

pytestmark = needs_browser

HOSTILE = "<img src=x onerror=\"document.title='pwned'\"> \u202eevil"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")


class Window:
    """A browser for all tests; each has a profile of its own."""

    def __init__(self, pool: ThreadPoolExecutor, browser: Browser) -> None:
        self._pool = pool
        self._browser = browser

    def browse(self, service: Service, look: Callable[[Page], None], **context: Any) -> list[str]:
        """Look at the page of a service; what the browser complained about."""
        complaints: list[str] = []

        def run() -> None:
            with self._browser.new_context(**context) as profile:
                page = profile.new_page()
                page.set_default_timeout(PATIENCE * 1000)
                expect.set_options(timeout=PATIENCE * 1000)
                page.on("console", lambda said: note(said.type, said.text))
                page.on("pageerror", lambda error: complaints.append(str(error)))
                page.goto(f"{service.url}/")
                look(page)

        def note(kind: str, text: str) -> None:
            if kind in ("error", "warning"):
                complaints.append(text)

        self._pool.submit(run).result()
        return complaints


@pytest.fixture(scope="module")
def window() -> Iterator[Window]:
    # Playwright wants a thread without an event loop, and always the same.
    with ThreadPoolExecutor(1) as pool:
        playwright = pool.submit(sync_playwright().start).result()
        launch = partial(playwright.chromium.launch, executable_path=BROWSER, args=list(FLAGS))
        try:
            browser = pool.submit(launch).result()
            yield Window(pool, browser)
            pool.submit(browser.close).result()
        finally:
            pool.submit(playwright.stop).result()


def test_a_crawl_of_the_demo_site_is_started_watched_and_read(
    window: Window, service: Service
) -> None:
    with serve() as demo:

        def look(page: Page) -> None:
            # With the keyboard alone.
            page.get_by_role("link", name="New crawl").focus()
            page.keyboard.press("Enter")
            page.get_by_label("URL", exact=True).focus()
            page.keyboard.type(demo.url)
            page.get_by_label("Depth", exact=True).fill("3")
            page.get_by_label("URL", exact=True).press("Enter")
            expect(page.locator("#job-title")).to_contain_text(demo.url)
            expect(page.locator("#job-status")).to_have_text(re.compile("running", re.IGNORECASE))
            expect(page.get_by_role("button", name="Stop")).to_be_visible()
            # By itself it comes to its end.
            expect(page.locator("#job-status")).to_have_text(re.compile("finished", re.IGNORECASE))
            expect(page.get_by_role("button", name="Stop")).to_be_hidden()
            expect(page.locator("#latest-empty")).to_be_hidden()
            expect(page.locator("#answers")).to_contain_text("404")
            expect(page.locator("#errors li").first).to_be_visible()
            expect(page.locator("#skips")).to_contain_text("other host")
            expect(page.locator("#hosts")).to_contain_text("127.0.0.1")
            expect(page.locator("#pages tr").first).to_be_visible()
            # Its result.
            with page.context.expect_page() as opened:
                page.locator("#outputs a", has_text="sitemap.json").click()
            opened.value.wait_for_load_state()
            assert f'"seed": "{demo.url}"' in opened.value.content()

        assert window.browse(service, look) == []


def test_the_report_of_a_crawl_opens_from_the_service(
    window: Window, service: Service, site: SiteFactory
) -> None:
    server = site({"pages": {"/": {"title": "Home", "links": ["/gone"]}, "/gone": {"status": 404}}})
    job = service.order(server.url(), outputs=["html"])
    service.until_ended(job)

    def look(page: Page) -> None:
        page.goto(f"{service.url}/#job/{job}")
        with page.context.expect_page() as opened:
            page.locator("#outputs a", has_text="report.html").first.click()
        report = opened.value
        expect(report.locator("html[data-ready]")).to_be_attached()
        report.locator("#figures a", has_text="Broken").click()
        expect(report.locator("#broken tbody")).to_contain_text("/gone")
        report.locator("#pages thead button", has_text="Size").click()
        expect(report.locator("#pages th[aria-sort]")).to_have_text("Size")
        # It is a stranger there.
        assert report.evaluate("origin") == "null"

    assert window.browse(service, look) == []


def test_a_hostile_title_shows_as_text(window: Window, service: Service, site: SiteFactory) -> None:
    server = site(
        {
            "pages": {
                "/": {
                    "title": HOSTILE,
                    "links": ["/<script>alert(1)</script>", "javascript:alert(2)"],
                },
            }
        }
    )
    job = service.order(server.url())
    service.until_ended(job)

    def look(page: Page) -> None:
        page.goto(f"{service.url}/#job/{job}")
        expect(page.locator("#pages")).to_contain_text("<img src=x onerror=")
        expect(page.locator("#latest")).to_contain_text("<img src=x onerror=")
        expect(page.locator("#errors")).to_contain_text("script")
        assert page.title() != "pwned"
        assert page.locator("img[src='x']").count() == 0
        assert page.locator("a[href^='javascript']").count() == 0
        assert page.locator("main script").count() == 0

    assert window.browse(service, look) == []


def test_what_is_wrong_with_an_order_is_said_beside_the_form(
    window: Window, service: Service
) -> None:
    def look(page: Page) -> None:
        page.goto(f"{service.url}/#new")
        page.get_by_label("URL", exact=True).fill("ftp://example.invalid")
        page.get_by_role("button", name="Start crawl").click()
        expect(page.locator("#form-error")).to_contain_text("not a crawlable URL")
        # What was typed stays.
        expect(page.get_by_label("URL", exact=True)).to_have_value("ftp://example.invalid")

    complaints = window.browse(service, look)
    # The browser's own word for any answer of this kind.
    assert [text for text in complaints if "status of 400" not in text] == []


def test_nothing_is_wider_than_the_screen(
    window: Window, service: Service, site: SiteFactory
) -> None:
    long = "/" + "very-long-" * 60
    server = site({"pages": {"/": {"title": "x" * 300, "links": [long]}, long: {"status": 500}}})
    job = service.order(server.url())
    service.until_ended(job)

    def look(page: Page) -> None:
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            for place, view in ((f"#job/{job}", "#view-job"), ("#new", "#view-new")):
                page.goto(f"{service.url}/{place}")
                expect(page.locator(view)).to_be_visible()
                expect(page.locator("#jobs-list li").first).to_be_attached()
                assert page.evaluate("document.documentElement.scrollWidth") <= width

    assert window.browse(service, look) == []


def test_both_colour_schemes_are_there(window: Window, service: Service) -> None:
    grounds = []
    for scheme in ("light", "dark"):

        def look(page: Page) -> None:
            expect(page.get_by_role("link", name="New crawl")).to_be_visible()
            grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))

        assert window.browse(service, look, color_scheme=scheme) == []
    light, dark = (sum(map(int, re.findall(r"\d+", ground)[:3])) for ground in grounds)
    assert dark < 200 < 600 < light
