"""What fills the memory of others: it costs a page, and a little more than that page may have."""

from __future__ import annotations

import gzip
import json
import zlib
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import brotli
import pytest
from backports import zstd

from tests.peak import crawl_with_peak, needs_proc
from tests.site.fixture import Site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SiteFactory = Callable[..., Site]

pytestmark = needs_proc

MB = 1_000_000
# As settings.py has it.
LARGEST = 32 * 1024 * 1024

ZEROS = bytes(10 * MB)


def deflate_bomb() -> bytes:
    """Of 10 GB: blocks that refer to nothing before them can be repeated."""
    stream = zlib.compressobj(9)
    head = stream.compress(b"") + stream.flush(zlib.Z_FULL_FLUSH)
    return head + 1000 * (stream.compress(ZEROS) + stream.flush(zlib.Z_FULL_FLUSH))


def brotli_bomb() -> bytes:
    """Of 10 GB: what follows ten million zeros is ten million zeros."""
    stream = brotli.Compressor(quality=5)
    head: bytes = stream.process(ZEROS) + stream.flush()
    more: bytes = stream.process(ZEROS) + stream.flush()
    return head + 1000 * more


def packed(body: bytes, encoding: str) -> dict[str, Any]:
    headers = {"Content-Encoding": encoding}
    return {"body_base64": b64encode(body).decode(), "headers": headers}


GZIP_BOMB = 1000 * gzip.compress(ZEROS)
BOMBS = {
    "/gzip": packed(GZIP_BOMB, "gzip"),
    "/gzip-in-gzip": packed(gzip.compress(GZIP_BOMB), "gzip, gzip"),
    "/deflate": packed(deflate_bomb(), "deflate"),
    "/brotli": packed(brotli_bomb(), "br"),
    "/zstd": packed(1000 * zstd.compress(ZEROS), "zstd"),
    "/announced": {"raw": f"HTTP/1.1 200 OK\r\nContent-Length: {200 * MB}\r\n\r\n"},
    # 200 MB and more: it goes on for as long as somebody reads.
    "/endless": {"endless": True, "body": "x" * 100_000},
}


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The peak of a crawl of two small pages, in bytes."""
    with Site({"pages": {"/": {"links": ["/fine"]}, "/fine": {}}}) as server:
        folder = tmp_path_factory.mktemp("ordinary")
        return crawl_with_peak(folder, "-a", f"seed={server.url()}", "-O", "s.json").peak


def errors_of(folder: Path, server: Site) -> dict[str, Any]:
    pages = json.loads((folder / "s.json").read_text())["pages"]
    return {page["url"].removeprefix(server.url("")): page.get("error") for page in pages}


def test_bodies_without_an_end_are_too_large_in_bounded_memory_and_the_crawl_goes_on(
    site: SiteFactory, tmp_path: Path, ordinary: int
) -> None:
    links = [*BOMBS, "/fine"]
    server = site({"pages": {"/": {"links": links}, "/fine": {}, **BOMBS}})
    done = crawl_with_peak(tmp_path, "-a", f"seed={server.url()}", "-O", "s.json")
    assert done.status == 0
    assert "Traceback" not in done.errors
    assert errors_of(tmp_path, server) == {
        "/": None,
        "/fine": None,
        **dict.fromkeys(BOMBS, "too large"),
    }
    # Several may be read at once, each with no more than it may have. One alone has 200 MB.
    assert done.peak < ordinary + 4 * LARGEST
    # Nobody is asked again for what is too large.
    assert sorted(server.paths()) == sorted(["/", *links])


def test_a_robots_txt_that_is_a_bomb_costs_its_host(
    site: SiteFactory, tmp_path: Path, ordinary: int
) -> None:
    robots = packed(GZIP_BOMB, "gzip")
    server = site({"robots": robots, "pages": {"/": {}}})
    patience = ("-s", "RETRY_TIMES=1", "-s", "FRONTIER_RETRY_BACKOFF_SECONDS=0.01")
    done = crawl_with_peak(tmp_path, "-a", f"seed={server.url()}", *patience)
    assert done.status == 1
    assert "Traceback" not in done.errors
    assert server.paths() == []
    assert done.peak < ordinary + 4 * LARGEST


def filled(piece: bytes) -> bytes:
    return piece * (30 * MB // len(piece))


# Made when they are needed: together they are large.
DENSE: dict[str, Callable[[], bytes]] = {
    "elements": lambda: filled(b"<p>x"),
    "links": lambda: b"".join(b"<a href=/%d>x</a>" % number for number in range(1_400_000)),
    "attributes": lambda: filled(b"<p " + b" ".join(b"a%d" % n for n in range(100)) + b">"),
    "nested": lambda: filled(b"<div>"),
    "metadata": lambda: filled(b"<meta name=a content=b>"),
    "NUL": lambda: filled(b"\0"),
    "title": lambda: b"<title>" + filled(b"a \x1b[31m"),
}


@pytest.mark.parametrize("name", DENSE)
def test_a_tree_is_no_bomb_either(
    site: SiteFactory, tmp_path: Path, ordinary: int, name: str
) -> None:
    """30 MB of it made gigabytes, and 30 KB of gzip are enough to send it."""
    page = packed(gzip.compress(DENSE[name](), compresslevel=1), "gzip")
    server = site({"pages": {"/": {"links": ["/dense", "/fine"]}, "/dense": page, "/fine": {}}})
    options = ("-a", f"seed={server.url()}", "-a", "max_pages=3", "-O", "s.json")
    done = crawl_with_peak(tmp_path, *options)
    assert done.status == 0
    assert "Traceback" not in done.errors
    assert errors_of(tmp_path, server) == {"/": None, "/dense": None, "/fine": None}
    assert done.peak < ordinary + 400 * MB
