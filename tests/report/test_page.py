"""The report in a real Chromium, opened from disk: read, sorted, searched, filtered, printed."""

from __future__ import annotations

import csv
import io
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect, sync_playwright

from crawlproject.frontier.database import connect_to_memory
from crawlproject.frontier.reading import Reader
from crawlproject.frontier.rounds import Round
from crawlproject.monitoring.ending import Limits
from crawlproject.pipelines.marking import Marks
from crawlproject.report.document import write_report
from tests.browser import BROWSER, needs_browser
from tests.report.making import BEGAN, SITE, Crawl, at, large
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

    Look = Callable[[Page], None]

pytestmark = needs_browser

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
HOSTILE = "</script><img src=x onerror=\"document.title='pwned'\"> \u202eevil"
LARGE = 100_000
# They begin with what an issue counts, and go on.
RANKINGS = ("slowest", "largest", "redirects?sort=-linked")
# More would mean that rows are drawn that nobody sees.
MOST_NODES = 6_000


class Browsing:
    """One browser for all tests, in a thread of its own: Playwright wants one without a loop."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._playwright = self._pool.submit(sync_playwright().start).result()
        self._browser: Browser = self._pool.submit(self._launch).result()

    def _launch(self) -> Browser:
        return self._playwright.chromium.launch(executable_path=BROWSER, args=list(FLAGS))

    def look(self, path: Path, look: Look, place: str = "", **context: Any) -> list[str]:
        """Look at a report; what the browser complained about, and whom it asked for anything."""
        return self._pool.submit(self._look, path, look, place, context).result()

    def _look(self, path: Path, look: Look, place: str, options: dict[str, Any]) -> list[str]:
        complaints: list[str] = []
        script = options.pop("before", None)
        context = self._browser.new_context(**{"accept_downloads": True, **options})
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        expect.set_options(timeout=PATIENCE * 1000)
        page.on("console", lambda said: complaints.append(said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        asked: list[str] = []
        if script:
            page.add_init_script(script)
        page.goto(f"{path.as_uri()}{place}")
        expect(page.locator("#report, #wait").first).to_be_attached()
        look(page)
        context.close()
        own = path.as_uri()
        return complaints + [
            url for url in asked if not url.startswith((own, "blob:null/", "data:"))
        ]

    def close(self) -> None:
        self._pool.submit(self._browser.close).result()
        self._pool.submit(self._playwright.stop).result()
        self._pool.shutdown()


@pytest.fixture(scope="module")
def browsing() -> Iterator[Browsing]:
    browsing = Browsing()
    yield browsing
    browsing.close()


def write(database: sqlite3.Connection, path: Path) -> Path:
    reader = Reader(database)
    with path.open("wb") as file:
        marks = Marks(reader, threshold=0.9, drops=False)
        write_report(file, reader, marks, Limits(depth=16))
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    crawl = Crawl()
    pages = [f"/shop/{number}" for number in range(30)]
    crawl.page("/", *pages, "/gone", "/old", "/vault", depth=0, title="Home")
    for number, path in enumerate(pages):
        formula = "=1+1" if number == 7 else f"Thing {number}"
        crawl.page(path, "/", "/gone", depth=2, fetch_ms=number, bytes=number * 1000, title=formula)
    crawl.broken("/gone")
    crawl.broken("/vault", 403)
    crawl.redirect("/old", "/older")
    crawl.redirect("/older", "/")
    crawl.skip("https://other.example/", "offsite")
    return write(crawl.database, tmp_path_factory.mktemp("small") / "report.html")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    database = connect_to_memory()
    large(database, LARGE, links=10)
    return write(database, tmp_path_factory.mktemp("large") / "report.html")


@pytest.fixture(scope="module")
def medium(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Something is in every list."""
    database = connect_to_memory()
    large(database, 2_000)
    return write(database, tmp_path_factory.mktemp("medium") / "report.html")


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the others have none of: duplicates, orphans, conflicts, changes, pages of scripts."""
    crawl = Crawl()
    crawl.page("/", "/copy", "/deep", depth=0, canonical=f"{SITE}/private")
    crawl.page("/copy", canonical=f"{SITE}/real")
    for path in ("/real", "/again", "/hidden"):
        crawl.page(path, depth=2, noindex=path == "/hidden")
    for path in ("/copy", "/real", "/again", "/hidden"):
        crawl.database.execute("INSERT INTO contents VALUES (?, x'01', NULL)", (crawl.id(path),))
    crawl.page("/private", status_code=None, error="robots")
    crawl.orphan("/lost")
    crawl.orphan("/deep")
    crawl.orphan("/lost-and-gone", status_code=404, error="unexpected status 404")
    crawl.orphan("/lost-vault", status_code=401, error="unexpected status 401")
    named = ("/lost", "/deep", "/lost-and-gone", "/lost-vault", "/private")
    crawl.sitemap("/sitemap.xml", *named)
    crawl.page("/app", rendered=False, word_count=0)
    crawl.note("round", Round(2, BEGAN, "all")._asdict())
    for path, kind in (("/a", "gone"), ("/b", "gone"), ("/c", "failed"), ("/app", "changed")):
        crawl.change(path, kind)
    return write(crawl.database, tmp_path_factory.mktemp("odd") / "report.html")


def ready(page: Page) -> None:
    expect(page.locator("html[data-ready]")).to_be_attached()


def rows(page: Page, name: str, column: int = 1) -> list[str]:
    """The texts of a column; the first is the button that opens a row."""
    return page.locator(f"#{name} tbody tr > :nth-child({column + 1})").all_inner_texts()


def found(page: Page, name: str) -> Any:
    return page.locator(f"#{name} .found")


def test_it_opens_from_disk_and_tells_at_once_how_the_site_is(
    browsing: Browsing, small: Path
) -> None:
    def look(page: Page) -> None:
        ready(page)
        expect(page.locator("#headline")).to_contain_text("33 pages")
        expect(page.locator("#headline")).to_contain_text("31 fine, 1 broken, 1 blocked.")
        expect(page.locator("#score")).to_have_text("93.9 %")
        expect(page.locator("#issue-list li").first).to_contain_text("1 broken page")
        for chart in ("depths", "times", "shape"):
            expect(page.locator(f"#chart-{chart} svg")).to_be_visible()
        # What is in order has a friendly word.
        expect(page.locator("#no-title")).to_contain_text("Every page has a title.")
        expect(page.locator("#sitemaps-section")).to_contain_text("No sitemap was read")
        # Nobody has looked: that is not none.
        expect(page.locator("#nav a", has_text="Sitemaps")).to_have_text("Sitemaps–")
        assert page.title() == f"Crawl report of {SITE}/"

    assert browsing.look(small, look) == []


def test_every_figure_and_every_issue_leads_to_its_list(browsing: Browsing, small: Path) -> None:
    def look(page: Page) -> None:
        ready(page)
        links = page.locator("#figures a, #issue-list a, #answer-rows a, #nav a, #depth-rows a")
        hrefs = {link.get_attribute("href") for link in links.all()}
        assert len(hrefs) > 20
        for href in hrefs:
            assert href is not None
            name = href[1:].partition("?")[0]
            expect(page.locator(f'[id="{name}"]')).to_have_count(1)
        page.locator("#figures a", has_text="Broken").click()
        expect(page.locator("#broken-title")).to_be_focused()
        page.locator("#answer-rows a", has_text="403").click()
        expect(found(page, "pages")).to_have_text("1 of 33 rows")
        assert rows(page, "pages") == ["/vault"]

    assert browsing.look(small, look) == []


def test_a_crawl_that_comes_back_says_when_it_did(browsing: Browsing, tmp_path: Path) -> None:
    crawl = Crawl()
    crawl.page("/", "/a", depth=0)
    crawl.page("/a", fetched_at=at(60))
    crawl.note("round", Round(2, BEGAN + 90 * 86_400, "all")._asdict())

    def look(page: Page) -> None:
        ready(page)
        when = page.locator("#when")
        # Nothing was visited, so nothing took any time.
        expect(when).to_have_text(re.compile(r"^Visited again \d+ \w+ 20\d\d, \d\d:\d\d$"))
        began = datetime.fromtimestamp(BEGAN + 90 * 86_400, UTC)
        expect(when.locator("time")).to_have_attribute("datetime", re.compile(f"^{began:%Y-%m-%d}"))

    assert browsing.look(write(crawl.database, tmp_path / "report.html"), look) == []


@pytest.mark.parametrize("name", ["medium", "odd"])
def test_an_issue_counts_the_rows_that_its_link_shows(
    browsing: Browsing, name: str, request: pytest.FixtureRequest
) -> None:
    def look(page: Page) -> None:
        ready(page)
        issues = page.locator("#issue-list a").all()
        assert len(issues) > 10
        for link in issues:
            count = link.locator("b").inner_text()
            place = (link.get_attribute("href") or "")[1:]
            if place in RANKINGS:
                continue
            name = place.partition("?")[0]
            link.click()
            expect(found(page, name)).to_have_text(re.compile(rf"^{count} (of [\d,]+ )?rows?$"))

    assert browsing.look(request.getfixturevalue(name), look) == []


def test_a_link_leads_to_its_list_a_second_time(browsing: Browsing, small: Path) -> None:
    def look(page: Page) -> None:
        ready(page)
        to_broken = page.locator("#figures a", has_text="Broken")
        to_vault = page.locator("#answer-rows a", has_text="403")
        for link, name in ((to_broken, "broken"), (to_vault, "pages")):
            for _ in range(2):
                page.evaluate("scrollTo(0, 0)")
                link.click()
                expect(page.locator(f"#{name}-title")).to_be_focused()
                expect(page.locator(f"#{name}-title")).to_be_in_viewport()
        assert rows(page, "pages") == ["/vault"]

    assert browsing.look(small, look) == []


def test_a_list_is_sorted_by_its_columns_with_mouse_and_keyboard(
    browsing: Browsing, small: Path
) -> None:
    def look(page: Page) -> None:
        head = page.locator("#pages thead th", has_text="Size")
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", "descending")
        assert rows(page, "pages")[0] == "Thing 29\n/shop/29"
        head.get_by_role("button").press("Enter")
        expect(head).to_have_attribute("aria-sort", "ascending")
        assert rows(page, "pages")[0] == "Thing 0\n/shop/0"
        assert page.url.endswith("#pages?sort=bytes")
        page.locator("#pages thead button", has_text="Page").first.click()
        assert rows(page, "pages")[:2] == ["Home\n/", "/gone"]
        expect(head).not_to_have_attribute("aria-sort", re.compile("."))

    assert browsing.look(small, look) == []


def test_a_list_is_searched_filtered_and_leafed_through(browsing: Browsing, small: Path) -> None:
    def look(page: Page) -> None:
        pages = page.locator("#pages")
        pages.get_by_role("searchbox").fill("SHOP/1")
        expect(found(page, "pages")).to_have_text("11 of 33 rows")
        expect(pages.locator(".pager")).to_contain_text("1–10 of 11")
        pages.get_by_role("button", name="Next rows").click()
        assert len(rows(page, "pages")) == 1
        pages.get_by_role("button", name="Clear filters").click()
        expect(found(page, "pages")).to_have_text("33 rows")
        pages.get_by_role("combobox", name="Answer").select_option("404 Not Found")
        expect(found(page, "pages")).to_have_text("1 of 33 rows")
        pages.get_by_role("searchbox").fill("nothing is called so")
        expect(pages.locator("tbody")).to_contain_text("No row matches")

    assert browsing.look(small, look) == []


def test_a_link_brings_its_search_filter_and_order(browsing: Browsing, small: Path) -> None:
    def look(page: Page) -> None:
        expect(found(page, "pages")).to_have_text("11 of 33 rows")
        expect(page.locator("#pages").get_by_role("searchbox")).to_have_value("shop/1")
        assert rows(page, "pages")[0] == "Thing 19\n/shop/19"
        expect(page.locator("#pages-title")).to_be_in_viewport()
        page.goto(f"{page.url.partition('#')[0]}#pages?path={SITE}/shop/2")
        expect(found(page, "pages")).to_have_text("11 of 33 rows")
        # What is no list, or no setting, does no harm.
        page.goto(f"{page.url.partition('#')[0]}#no%-such?q=%E0%A4%A")
        page.goto(f"{page.url.partition('#')[0]}#pages?constructor=x&depth=2")
        expect(found(page, "pages")).to_have_text("30 of 33 rows")

    place = "#pages?q=shop/1&outcome=fine&sort=-fetch_ms"
    assert browsing.look(small, look, place) == []


def test_a_type_of_data_leads_to_all_pages_that_have_it(browsing: Browsing, tmp_path: Path) -> None:
    crawl = Crawl()
    for number in range(10):
        types = [f"A{one}" for one in range(number)] + ["WebPage", "One, or two"]
        crawl.page(f"/{number}", structured_data=[{"type": name} for name in types])
    crawl.page("/none")

    def look(page: Page) -> None:
        ready(page)
        for name, count in (("WebPage", 10), ("One, or two", 10), ("A7", 2)):
            row = page.locator("#types tbody tr").filter(has=page.get_by_text(name, exact=True))
            row.get_by_role("link").click()
            expect(found(page, "pages")).to_have_text(f"{count} of 11 rows")
        page.goto(f"{page.url.partition('#')[0]}#pages?data=")
        expect(found(page, "pages")).to_have_text("1 of 11 rows")
        header, *lines = saved(page, "pages")
        assert [line[header.index("data")] for line in lines] == [""]

    assert browsing.look(write(crawl.database, tmp_path / "report.html"), look) == []


def test_a_row_opens_and_tells_who_links_to_its_page(browsing: Browsing, small: Path) -> None:
    def look(page: Page) -> None:
        opener = page.locator("#broken button.open").first
        opener.press("Enter")
        expect(opener).to_have_attribute("aria-expanded", "true")
        details = page.locator("#broken .details")
        expect(details.locator(".refs li")).to_have_count(15)
        details.get_by_role("button", name="Show 16 more").click()
        expect(details.locator(".refs li")).to_have_count(31)
        opener.click()
        expect(details).to_have_count(0)
        page.locator("#redirects button.open").first.click()
        expect(page.locator("#redirects .details")).to_contain_text("/older")

    assert browsing.look(small, look) == []


def saved(page: Page, name: str) -> list[list[str]]:
    with page.expect_download() as download:
        page.locator(f"#{name}").get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == f"{name}.csv"
    text = Path(download.value.path()).read_text("utf-8-sig")
    assert "\r\n" in Path(download.value.path()).read_bytes().decode()
    return list(csv.reader(io.StringIO(text)))


def test_a_list_is_saved_as_csv_as_it_is_filtered_now(browsing: Browsing, small: Path) -> None:
    def look(page: Page) -> None:
        header, *lines = saved(page, "pages")
        assert header[:3] == ["page", "answer", "outcome"]
        assert len(lines) == 33
        titles = [line[header.index("title")] for line in lines]
        # A spreadsheet would run it.
        assert "'=1+1" in titles
        assert "=1+1" not in titles
        page.locator("#pages").get_by_role("combobox", name="Depth").select_option("2")
        assert len(saved(page, "pages")) == 31
        # A row for each page that links to a broken one.
        header, *lines = saved(page, "broken")
        assert len(lines) == 31
        assert {line[0] for line in lines} == {f"{SITE}/gone"}
        assert f"{SITE}/shop/3" in {line[header.index("sources")] for line in lines}

    assert browsing.look(small, look) == []


def test_what_a_hostile_site_says_is_text(browsing: Browsing, tmp_path: Path) -> None:
    crawl = Crawl()
    crawl.note("seeds", [f"{SITE}/{HOSTILE}"])
    path = "/%3Cscript%3E<b>x</b>"
    fields: dict[str, Any] = dict.fromkeys(("title", "description", "language"), HOSTILE)
    crawl.page("/", path, "javascript:alert(1)", depth=0, content_type=HOSTILE, **fields)
    crawl.page(path, canonical="javascript:alert(2)", title=HOSTILE)
    crawl.broken("javascript:alert(3)")
    crawl.skip("data:text/html,<script>alert(4)</script>", "excluded", HOSTILE)

    def look(page: Page) -> None:
        ready(page)
        expect(page.locator("#pages")).to_contain_text("</script><img src=x onerror=")
        # What would turn the text around is shown, and does nothing.
        expect(page.locator("#pages")).to_contain_text("\ufffdevil")
        for opener in page.locator("button.open").all():
            opener.click()
        page.locator("#chart-shape").click()
        assert page.locator("img").count() == 0
        assert page.title() != "pwned"
        assert page.locator("main script").count() == 0
        targets = [link.get_attribute("href") or "" for link in page.locator("a").all()]
        assert all(target.startswith(("#", "https://")) for target in targets)
        for link in page.locator("a[target=_blank]").all():
            assert link.get_attribute("rel") == "noreferrer noopener"

    report = write(crawl.database, tmp_path / "report.html")
    assert browsing.look(report, look) == []


def test_letters_that_need_a_joiner_keep_it(browsing: Browsing, tmp_path: Path) -> None:
    crawl = Crawl()
    persian, family, sides = (
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f468\u200d\U0001f467",
        "a\u200e",
    )
    crawl.page("/", depth=0, title=f"{persian} {family} {sides}")
    crawl.page("/odd", title="\u202ea\u2066b\u0007c\u200bd")

    def look(page: Page) -> None:
        ready(page)
        titles = page.locator("#pages .title").all_inner_texts()
        assert titles == [f"{persian} {family} {sides}", "\ufffda\ufffdb\ufffdc\ufffdd"]

    assert browsing.look(write(crawl.database, tmp_path / "report.html"), look) == []


def test_a_hundred_thousand_pages_are_sorted_and_searched(browsing: Browsing, many: Path) -> None:
    assert many.stat().st_size < 30_000_000

    def look(page: Page) -> None:
        ready(page)
        expect(page.locator("#pages-title")).to_contain_text("100,000")
        for label in ("Page", "Size", "PageRank"):
            page.locator("#pages thead button", has_text=re.compile(f"^{label}$")).click()
            expect(page.locator("#pages th[aria-sort]")).to_have_text(label)
        page.locator("#pages").get_by_role("searchbox").fill("thread-99999")
        expect(found(page, "pages")).to_have_text(re.compile(r"^[01] of 100,000 rows$"))
        page.locator("#pages").get_by_role("searchbox").fill("harbours")
        expect(found(page, "pages")).to_have_text(re.compile(r"^[\d,]{5,} of 100,000 rows$"))
        page.locator("#pages").get_by_label("Rows at once").select_option("100")
        assert len(rows(page, "pages")) == 100
        assert page.evaluate("document.querySelectorAll('*').length") < MOST_NODES
        # Folders are told, though there are thousands of paths.
        expect(page.locator("#chart-shape")).to_contain_text("blog/")

    assert browsing.look(many, look) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_screen(browsing: Browsing, medium: Path, width: int) -> None:
    def look(page: Page) -> None:
        ready(page)
        for name in ("broken", "redirects", "pages"):
            page.locator(f"#{name} button.open").first.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    assert browsing.look(medium, look, viewport={"width": width, "height": 900}) == []


def test_both_colour_schemes_are_there(browsing: Browsing, small: Path) -> None:
    grounds = []

    def look(page: Page) -> None:
        ready(page)
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    for scheme in ("light", "dark"):
        assert browsing.look(small, look, color_scheme=scheme) == []
    light, dark = (sum(map(int, re.findall(r"\d+", ground)[:3])) for ground in grounds)
    assert dark < 200 < 600 < light


def test_it_is_printed_with_more_rows_and_without_controls(browsing: Browsing, small: Path) -> None:
    def look(page: Page) -> None:
        ready(page)
        assert len(rows(page, "pages")) == 10
        assert len(page.pdf()) > 20_000
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert len(page.locator("#pages tbody tr").all()) == 30
        expect(page.locator("#nav")).to_be_hidden()
        expect(page.locator("#pages input[type=search]")).to_be_hidden()
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert len(page.locator("#pages tbody tr").all()) == 10

    assert browsing.look(small, look, color_scheme="dark") == []


def test_a_browser_that_is_too_old_says_so(browsing: Browsing, small: Path) -> None:
    def look(page: Page) -> None:
        expect(page.locator("#wait")).to_contain_text("It needs a browser of 2023 or later")
        expect(page.locator("#report")).to_be_hidden()

    assert browsing.look(small, look, before="delete window.DecompressionStream") == []
