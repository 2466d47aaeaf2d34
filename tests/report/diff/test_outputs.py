"""The differences in files: JSON, CSV, HTML."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from crawlproject.report.diff import as_html
from crawlproject.report.diff.as_csv import write_csv
from crawlproject.report.diff.as_html import write_html
from crawlproject.report.diff.as_json import write_json
from crawlproject.report.diff.fields import KINDS
from crawlproject.report.diff.html_rows import MAX_VALUES, link, safe
from tests.report.diff.two_sides import SITE, broken, compared, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlproject.report.diff.comparison import Comparison

    Write = Callable[[Comparison, io.BytesIO], None]

HOSTILE = "<img src=x onerror=alert(1)>\"'&\u202eevil\x1b[31m\ud800"
BEFORE = [
    page("/a", title="=1+1", links=["/x", "/y"]),
    page("/b"),
    page("/gone"),
    page("/old", content_hash="same"),
]
AFTER = [
    page("/a", title=HOSTILE, links=["/y", "/z"], depth=0),
    broken("/b"),
    page("/in"),
    page("/new", content_hash="same", redirected_from=[f"{SITE}/old"]),
    page("javascript:alert(1)", title=HOSTILE),
]


TIMES = {"started_at": None, "last_fetched_at": None}


def written(write: Any, only: Iterable[str] = KINDS, ignored: Iterable[str] = ()) -> str:
    file = io.BytesIO()
    with compared(BEFORE, AFTER, ignored, only) as comparison:
        write(comparison, file)
    return file.getvalue().decode()


def test_json_is_one_document_an_entry_a_line() -> None:
    text = written(write_json)
    document = json.loads(text)
    assert list(document) == [
        *("before", "after", "ignored", "counts", "fields"),
        *("changed", "moved", "added", "removed"),
    ]
    assert document["before"] == {"name": "A", "pages": 4, **TIMES, "open": 0}
    assert document["counts"] == {
        "added": 2,
        "removed": 1,
        "changed": 2,
        "moved": 1,
        "broke": 1,
        "mended": 0,
        "dead": 0,
        "lost": 0,
        "same": 0,
        "left_aside": 0,
    }
    assert document["fields"] == {"status_code": 1, "error": 1, "title": 1, "links": 1, "depth": 1}
    first, second = document["changed"]
    assert (first["url"], first["verdict"], second["verdict"]) == (f"{SITE}/a", None, "broke")
    assert first["fields"]["links"] == {
        "before": 2,
        "after": 2,
        "added": ["/z"],
        "removed": ["/x"],
    }
    assert document["moved"][0]["redirects"] is True
    assert [one["url"] for one in document["added"]] == [f"{SITE}/in", "javascript:alert(1)"]
    assert sum(line.startswith('{"url"') for line in text.splitlines()) == 6


def test_json_leaves_out_what_is_not_asked_for() -> None:
    document = json.loads(written(write_json, {"moved", "removed"}, {"title"}))
    assert document["counts"] == {"removed": 1, "moved": 1, "same": 0, "left_aside": 4}
    assert document["ignored"] == ["title"]
    assert "changed" not in document
    assert "added" not in document


def test_json_of_nothing_is_whole() -> None:
    file = io.BytesIO()
    with compared(BEFORE, BEFORE) as comparison:
        write_json(comparison, file)
    document = json.loads(file.getvalue())
    assert (document["counts"]["same"], document["changed"], document["fields"]) == (4, [], {})


def test_csv_has_a_row_for_each_url_and_field_and_no_formula() -> None:
    text = written(write_csv)
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == ["url", "kind", "verdict", "field", "before", "after"]
    title = "<img src=x onerror=alert(1)>\"'&\u202eevil[31m\ufffd"
    assert rows[1:] == [
        [f"{SITE}/a", "changed", "", "title", "'=1+1", title],
        [f"{SITE}/a", "changed", "", "links", "/x", "/z"],
        [f"{SITE}/a", "changed", "", "depth", "1", "0"],
        [f"{SITE}/b", "changed", "broke", "status_code", "200", "404"],
        [f"{SITE}/b", "changed", "broke", "error", "", "unexpected status 404"],
        [f"{SITE}/old", "moved", "", "url", f"{SITE}/old", f"{SITE}/new"],
        [f"{SITE}/in", "added", "", "status_code", "", "200"],
        ["javascript:alert(1)", "added", "", "status_code", "", "200"],
        [f"{SITE}/gone", "removed", "", "status_code", "200", ""],
    ]


BAD_BEFORE = [page("/"), page("/breaks"), page("/leads"), page("/old", content_hash="same")]
BAD_AFTER = [
    page("/"),
    broken("/breaks") | {"referrer": f"{SITE}/1"},
    broken("/end") | {"redirected_from": [f"{SITE}/leads"], "referrer": f"{SITE}/2"},
    page("/new", content_hash="same"),
]


def bad(write: Any) -> str:
    file = io.BytesIO()
    with compared(BAD_BEFORE, BAD_AFTER) as comparison:
        write(comparison, file)
    return file.getvalue().decode()


def test_csv_can_be_filtered_by_what_is_bad() -> None:
    rows = csv.DictReader(io.StringIO(bad(write_csv), newline=""))
    assert [(row["url"], row["kind"], row["verdict"], row["field"]) for row in rows] == [
        (f"{SITE}/breaks", "changed", "broke", "status_code"),
        (f"{SITE}/breaks", "changed", "broke", "error"),
        (f"{SITE}/leads", "changed", "broke", "error"),
        (f"{SITE}/leads", "changed", "broke", "redirects_to"),
        (f"{SITE}/old", "moved", "lost", "url"),
        (f"{SITE}/end", "added", "dead", "status_code"),
    ]


def test_json_says_what_is_bad_and_who_links_to_it() -> None:
    document = json.loads(bad(write_json))
    told = [(one["url"], one["verdict"], one["referrer"]) for one in document["changed"]]
    assert told == [
        (f"{SITE}/breaks", "broke", f"{SITE}/1"),
        (f"{SITE}/leads", "broke", f"{SITE}/2"),
    ]
    assert [one["verdict"] for one in (*document["moved"], *document["added"])] == ["lost", "dead"]
    assert (document["counts"]["dead"], document["counts"]["lost"]) == (1, 1)


def test_html_says_who_links_to_what_broke() -> None:
    text = bad(write_html)
    rows = text.partition('id="broke"')[2].partition("</details>")[0].split("<li><a ")[1:]
    assert len(rows) == 2
    for row, referrer in zip(rows, ("/1", "/2"), strict=True):
        assert f"linked from {link(SITE + referrer)}" in row
    # Of what has changed otherwise it is of no interest.
    assert "linked from" not in written(write_html)


def test_html_leads_from_the_figures_to_the_lists() -> None:
    text = bad(write_html)
    assert '<a class="dead" href="#added"><strong>1</strong> dead</a>' in text
    assert '<a class="lost" href="#moved"><strong>1</strong> lost</a>' in text
    places = set(re.findall(r'href="#(\w+)"', text))
    assert places <= set(re.findall(r'id="(\w+)"', text))


def test_html_allows_one_style_sheet_and_nothing_else() -> None:
    text = written(write_html)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    body = text.partition("<body>")[2]
    assert not re.search(r"<(script|style|link|img|iframe|object|form|base)\b", body)
    assert not re.search(r"<[^>]*\s(style|on\w+|src)=", body)


def test_what_a_site_says_is_text_in_html() -> None:
    text = written(write_html)
    assert "&lt;img src=x onerror=alert(1)&gt;&quot;&#x27;&amp;\ufffdevil\ufffd[31m\ufffd" in text
    assert "<bdi>javascript:alert(1)</bdi>" in text
    assert 'href="javascript' not in text


@pytest.mark.parametrize("url", ["https://x/", "http://x/?a&b", "HTTPS://x/"])
def test_only_the_web_is_linked_to(url: str) -> None:
    assert link(url) == f'<a href="{safe(url)}"><bdi>{safe(url)}</bdi></a>'


@pytest.mark.parametrize(
    "url",
    ["javascript:x", " https://x", "data:text/html,x", "//x", "/x", "\x01https://x", "file:///"],
)
def test_nothing_else_is_linked_to(url: str) -> None:
    assert "href" not in link(url)


def test_lists_in_html_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(as_html, "MAX_ROWS", 2)
    links = [f"https://site.example/{number:03}" for number in range(MAX_VALUES + 5)]
    after = [page("/", links=links), *(page(f"/{number}", title="x" * 900) for number in range(5))]
    file = io.BytesIO()
    with compared([page("/")], after) as comparison:
        write_html(comparison, file)
    text = file.getvalue().decode()
    assert f">and {5:,} more<" in text
    assert ">and 3 more: -o FILE.csv has all<" in text
    assert text.count('<span class="badge') == 2
    assert "x" * 401 not in text
    # The whole of it is under the link.
    assert safe("x" * 900) == "x" * 400 + "…"


@pytest.mark.parametrize("write", [write_json, write_csv, write_html])
def test_the_same_differences_are_the_same_bytes(write: Write) -> None:
    assert written(write) == written(write)
