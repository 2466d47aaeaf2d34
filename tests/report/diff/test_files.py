"""Pages in files, whoever has written them."""

from __future__ import annotations

import gzip
import json
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest

from crawlproject.errors import BadInput
from crawlproject.report.diff.facts import Reduced
from crawlproject.report.diff.files import FileSide
from tests.report.diff.two_sides import page

if TYPE_CHECKING:
    from pathlib import Path

PAGES = [page(f"/{number}", title=f"Täst {number}") for number in range(5)]
DOCUMENT = {"seed": None, "started_at": "2026-11-16T02:23:31Z", "pages": PAGES, "items": [{"a": 1}]}


def read(path: Path) -> list[str]:
    return [facts["url"] for facts in FileSide(path, Reduced(frozenset())).read()]


URLS = [record["url"] for record in PAGES]


@pytest.mark.parametrize("indent", [None, 0, 2])
@pytest.mark.parametrize("sort_keys", [False, True])
def test_a_document_in_any_layout_has_the_same_pages(
    tmp_path: Path, indent: int | None, sort_keys: bool
) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps(DOCUMENT, indent=indent, sort_keys=sort_keys))
    side = FileSide(path, Reduced(frozenset()))
    assert [facts["url"] for facts in side.by_url()] == URLS
    assert (side.pages, side.started_at) == (5, "2026-11-16T02:23:31Z")


def test_the_last_page_that_was_fetched_tells_when_a_file_is_of(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps(DOCUMENT))
    side = FileSide(path, Reduced(frozenset()))
    list(side.by_url())
    assert side.last_fetched_at is None
    times = ("2026-11-16T02:23:32.1+00:00", "2026-11-16T02:23:33.9+00:00", None, 5, "")
    pages = [{**one, "fetched_at": when} for one, when in zip(PAGES, times, strict=True)]
    path.write_text(json.dumps({**DOCUMENT, "pages": pages}))
    list(side.by_url())
    assert side.last_fetched_at == "2026-11-16T02:23:33Z"


@pytest.mark.parametrize("name", ["p.jsonl", "p.jl", "P.JSONL"])
def test_lines_are_pages_in_any_order_and_the_last_of_a_url_counts(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    again = page("/3", title="again")
    lines = [*reversed(PAGES), {"sku": 7}, again]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    side = FileSide(path, Reduced(frozenset()))
    side.is_sorted = False
    found = list(side.by_url())
    assert [facts["url"] for facts in found] == URLS
    assert found[3]["title"] == "again"


def test_the_list_of_pages_alone_will_do(tmp_path: Path) -> None:
    path = tmp_path / "pages.json"
    path.write_text(json.dumps(PAGES))
    assert read(path) == URLS


def test_a_compressed_file_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "s.json.gz"
    path.write_bytes(gzip.compress(json.dumps(DOCUMENT).encode()))
    assert read(path) == URLS
    lines = tmp_path / "p.jsonl.gz"
    lines.write_bytes(gzip.compress("\n".join(map(json.dumps, PAGES)).encode()))
    assert read(lines) == URLS


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    content = json.dumps(PAGES[::-1])
    writer = threading.Thread(target=path.write_text, args=(content,))
    writer.start()
    side = FileSide(path, Reduced(frozenset()))
    assert [facts["url"] for facts in side.by_url()] == URLS
    writer.join()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", ", line 1: it is empty; give a crawl directory, a sitemap.json, or pages as .jsonl"),
        ("<html>", ", line 1: no JSON document begins with '<'; give a crawl directory"),
        ("{", ", line 1: it ends in the middle"),
        ("{}", ' has no list "pages": give a crawl directory'),
        ('{"pages": 5}', ' has no list "pages"'),
        ('{"pages": {"url": "x"}}', ' has no list "pages"'),
        ('{"pages": [\n5\n]}', ", line 2: a page must be an object, and is 5"),
        ('{"pages": [\n\n{"title": "x"}\n]}', ', line 3: a page must have a "url"'),
        ('{"pages": [\n{"url": "u"},\n{"url": "u", "li', ", line 3: it ends in the middle"),
        ('{"pages": [\n{"url": "u", "links": 5}]}', ', line 2: "links" must be a list of texts'),
        ('{"pages": []}\n{"pages": []}', ", line 2: '{' behind the end of the document; lines go"),
        ('{"pages": []', ", line 1: it ends in the middle"),
        ('{"pages": [], 5: 6}', ", line 1: '5' in place of a name in quotes"),
        ("{'pages': []}", ', line 1: "\'" in place of a name in quotes'),
        ('{"pages": [{"url": "\x00"}]}' + " " * 99, ", line 1: invalid control character"),
    ],
)
def test_a_broken_document_is_told_in_a_line(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(content)
    with pytest.raises(BadInput) as error:
        read(path)
    assert str(error.value).startswith(f"{str(path)!r}{problem}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("5\n", ", line 1: a page must be an object, and is 5"),
        ('{"url":"u","status_code":1}\n{"status_code":1}\n', ', line 2: a page must have a "url"'),
        ('{"url":"u","status_code":1}\n{"url":"v","sta', ", line 2: it ends in the middle"),
        ('{"sku":1}\n{"sku":2}\n', ' has no pages: each has "url" and "status_code"'),
    ],
)
def test_broken_lines_are_told_in_a_line(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "b.jsonl"
    path.write_text(content)
    with pytest.raises(BadInput) as error:
        read(path)
    assert str(error.value).startswith(f"{str(path)!r}{problem}")


def test_no_lines_are_no_pages(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").touch()
    assert read(tmp_path / "b.jsonl") == []


@pytest.mark.parametrize(
    "content",
    [
        b"no gzip",
        gzip.compress(b"[]" * 99, mtime=0)[:-9],
        gzip.compress(b"[]", mtime=0)[:-12] + b"x" * 12,
    ],
)
def test_a_damaged_compressed_file_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "b.json.gz"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"b\.json\.gz'"):
        read(path)


def test_what_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "b.json"
    path.write_text("[]")

    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", refuse)
    with pytest.raises(BadInput, match=r"can't read '.*b\.json': Permission denied"):
        read(path)
