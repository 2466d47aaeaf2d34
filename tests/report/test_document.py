"""The file as a whole: what is in it, what it may do, how large it gets."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from crawlproject.frontier.reading import Reader
from crawlproject.monitoring.ending import Limits
from crawlproject.pipelines.marking import Marks
from crawlproject.report import assets
from crawlproject.report.document import write_report
from tests.report.making import SITE, Crawl
from tests.report.reading import report_in


def written(crawl: Crawl, **bounds: int) -> bytes:
    reader = Reader(crawl.database)
    file = io.BytesIO()
    marks = Marks(reader, threshold=0.9, drops=False)
    write_report(file, reader, marks, Limits(depth=16), **bounds)
    return file.getvalue()


def small() -> Crawl:
    crawl = Crawl()
    crawl.page("/", "/a", "/gone", "https://other.example/", depth=0)
    crawl.page("/a", "/")
    crawl.broken("/gone")
    crawl.skip("https://other.example/", "offsite")
    return crawl


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.texts:
            self.texts[-1] += data


def elements(html: bytes) -> Elements:
    parser = Elements()
    parser.feed(html.decode())
    return parser


def test_pages_lists_and_figures_are_in_it() -> None:
    report = report_in(written(small()))
    assert report.pages["url"] == [f"{SITE}/", f"{SITE}/a", f"{SITE}/gone"]
    assert report.texts("broken", "page") == [f"{SITE}/gone"]
    assert report.texts("broken", "sources") == [[f"{SITE}/"]]
    assert report.texts("skipped", "url") == ["https://other.example/"]
    assert report.head["headline"] == f"Crawled 3 pages of {SITE}/: 2 fine, 1 broken."
    names = [name for section in report.head["sections"] for name in section["lists"]]
    assert sorted(names) == sorted(report.lists)


def test_the_same_crawl_makes_the_same_bytes() -> None:
    assert written(small()) == written(small())


def test_its_policy_lets_its_own_scripts_run_and_nothing_else() -> None:
    html = written(small())
    parser = elements(html)
    (policy,) = (
        attributes["content"]
        for tag, attributes in parser.found
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("default-src") == "'none'"
    assert rules.pop("img-src") == "data:"
    assert rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    assert {*rules} == {"script-src", "style-src"}

    def hashed(content: bytes) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}'"

    (script,) = re.findall(rb'<script type="module">(.*?)</script>', html, re.DOTALL)
    (style,) = re.findall(rb"<style>(.*?)</style>", html, re.DOTALL)
    assert rules["script-src"].split() == [hashed(script), hashed(assets.library())]
    assert rules["style-src"] == hashed(style)


def test_nothing_is_asked_for_from_elsewhere() -> None:
    parser = elements(written(small()))
    for tag, attributes in parser.found:
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag
        for name in ("src", "href", "action", "srcset"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:")), (tag, value)


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\u202eevil\u2066\u200f",
    "\ud800 lone \udfff",
    "nul\x00byte\u2028line",
    "{{data}}{{script}}{{style}}",
    "x" * 1_000_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_what_a_site_says_stays_text(text: str) -> None:
    crawl = Crawl()
    fields: dict[str, Any] = {
        "title": text,
        "description": text,
        "language": text,
        "content_type": text,
        "headings": [{"level": 1, "text": text}],
        "canonical": f"javascript:{text}",
        "structured_data": [{"type": text}],
    }
    url_text = text[:3_000].encode("utf-8", "replace").decode()
    crawl.note("seeds", [f"{SITE}/{text[:500]}"])
    crawl.page(f"/{url_text}", "javascript:alert(1)", **fields)
    crawl.page("/b", f"/{url_text}", **{**fields, "content_type": "text/html"})
    crawl.skip(f"https://x/{url_text}", "excluded", url_text)
    html = written(crawl)
    assert len(html) < 1_500_000
    parser = elements(html)
    scripts = [attributes.get("type") for tag, attributes in parser.found if tag == "script"]
    assert set(scripts) == {"application/gzip", "module"}
    assert b"<script>alert(1)" not in html
    report = report_in(html)
    assert len(report.pages["url"]) == 2
    assert max(len(title) for title in report.pages["title"] if title) <= 300


def test_a_report_that_gets_too_large_leaves_out_what_matters_least() -> None:
    crawl = Crawl()
    for number in range(300):
        crawl.page(f"/{number}", "/gone")
        crawl.skip(f"https://{number}.example/", "offsite")
    crawl.broken("/gone")
    whole = report_in(written(crawl))
    assert whole.lists["skipped"]["rows"] == whole.lists["skipped"]["total"] == 300
    report = report_in(written(crawl, most_pages=50, lists_bytes=20_000))
    assert len(report.pages["url"]) == 50
    assert report.head["page_list"]["total"] == 301
    skipped = report.lists["skipped"]
    assert skipped["rows"] < skipped["total"] == 300
    assert len(skipped["values"]["url"]) == skipped["rows"]
    # What comes first has the room.
    assert report.lists["broken"]["rows"] == 1
    # Without room for pages, lists have their URLs all the same.
    report = report_in(written(crawl, pages_bytes=10))
    assert report.pages == {}
    assert report.texts("broken", "page") == [f"{SITE}/gone"]


def test_a_crawl_that_is_not_finished_is_called_so() -> None:
    crawl = small()
    crawl.id("/queued")
    head = report_in(written(crawl)).head
    assert head["open"] == 1
    assert "1 URL was not tried." in head["notes"]


@pytest.mark.parametrize("has_sitemap", [False, True])
def test_a_crawl_without_pages_has_a_report(has_sitemap: bool) -> None:
    crawl = Crawl()
    if has_sitemap:
        crawl.sitemap("/sitemap.xml", "/a")
    report = report_in(written(crawl))
    assert report.pages == {}
    assert (report.head["health"], report.head["issues"]) == (None, [])
