"""The HTML file, in a real Chromium."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

from crawlproject.report.diff.as_html import write_html
from tests.browser import BROWSER, needs_browser
from tests.report.diff.two_sides import SITE, broken, compared, page

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "<script>document.title = 'pwned'</script><img src=x onerror=\"document.title='pwned'\">"
LONG = f"{SITE}/{'long-' * 100}"
BEFORE = [page("/a"), page("/b", title="B"), page("/c"), page("/gone"), page(LONG)]
AFTER = [
    page("/a", title=HOSTILE, links=[f"{SITE}/{number}" for number in range(30)]),
    broken("/b"),
    page("/c", headings=[{"level": 1, "text": HOSTILE}]),
    page("/javascript"),
    page("javascript:document.title='pwned'", title=HOSTILE),
]
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
# The contrast of text is for the eye; that it is dark on light, or light on dark, is not.
LOOKS = "getComputedStyle(document.body).backgroundColor"


@needs_browser
def test_the_page_opens_from_disk_runs_nothing_and_fits(tmp_path: Path) -> None:
    path = tmp_path / "diff.html"
    with compared(BEFORE, AFTER) as comparison, path.open("wb") as file:
        write_html(comparison, file)
    said: list[str] = []
    seen: dict[str, Any] = {}

    def look() -> None:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=BROWSER, args=list(FLAGS))
            for scheme in ("light", "dark"):
                context = browser.new_context(
                    viewport={"width": 390, "height": 800}, color_scheme=scheme
                )
                shown = context.new_page()
                shown.on("console", lambda one: said.append(one.text))
                shown.on("request", lambda one: said.append(one.url))
                shown.goto(path.as_uri())
                seen[scheme] = shown.evaluate(LOOKS)
            seen["title"] = shown.title()
            seen["width"] = shown.evaluate("document.documentElement.scrollWidth")
            seen["hrefs"] = shown.evaluate("Array.from(document.links, one => one.protocol)")
            folded = shown.get_by_text(f"{SITE}/29")
            seen["folded"] = folded.is_visible()
            shown.get_by_text("+30").click()
            seen["unfolded"] = folded.count() == 0 and shown.get_by_text("and 10 more").is_visible()
            fresh = context.new_page()
            fresh.goto(path.as_uri())
            fresh.emulate_media(media="print")
            seen["printed"] = fresh.get_by_text("and 10 more").is_visible()
            browser.close()

    # Playwright wants a thread without an event loop.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(look).result()
    assert said == [path.as_uri()] * 2
    assert seen["title"] == "What has changed: A → B"
    assert seen["width"] == 390
    assert set(seen["hrefs"]) <= {"https:", "file:"}
    assert seen["light"] != seen["dark"]
    assert (seen["folded"], seen["unfolded"], seen["printed"]) == (False, True, True)
