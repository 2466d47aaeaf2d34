"""Few bytes that become many: links, sitemaps, lists of words, text, and what is stored."""

from __future__ import annotations

import gzip
import hashlib
import json
import sqlite3
import tracemalloc
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.http import HtmlResponse

from crawlproject.frontier.redis.blocks import Malformed, unpacked
from crawlproject.pages.structured import structured_data
from crawlproject.pipelines.blobs import Blobs, Folder, MissingBody
from crawlproject.urls.canonical import canonicalize
from tests.peak import crawl_with_peak, needs_proc
from tests.site.fixture import Site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.peak import Ended

    SiteFactory = Callable[..., Site]

MB = 1_000_000
# What docs/usage.md promises: one page takes no more, beside what a crawl takes anyway.
WORST = 300 * MB

LONG = "/" + "/".join(["d" * 100] * 80) + "/"
NAMESPACES = 'xmlns:xhtml="http://www.w3.org/1999/xhtml"'


def packed(body: str | bytes, content_type: str = "text/html") -> dict[str, Any]:
    data = body.encode() if isinstance(body, str) else body
    headers = {"Content-Encoding": "gzip", "Content-Type": content_type}
    return {"body_base64": b64encode(gzip.compress(data, 1)).decode(), "headers": headers}


def links(count: int, base: str = LONG, href: str = "%d") -> str:
    return f"<base href='{base}'>" + "".join(
        f"<a href='{href % number}'>x</a>" for number in range(count)
    )


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The peak of a crawl of two small pages, in bytes."""
    with Site({"pages": {"/": {"links": ["/fine"]}, "/fine": {}}}) as server:
        folder = tmp_path_factory.mktemp("ordinary")
        return crawl_with_peak(folder, "-a", f"seed={server.url()}", "-O", "s.json").peak


class Crawl:
    """A crawl of a site, and what it has left behind."""

    def __init__(self, folder: Path, server: Site, *options: str) -> None:
        self._folder = folder
        job = ("-s", "JOBDIR=job", "-O", "s.json", "-s", "STATS_DUMP=True", "-L", "INFO")
        self.ended: Ended = crawl_with_peak(folder, "-a", f"seed={server.url()}", *job, *options)
        pages = json.loads((folder / "s.json").read_text())["pages"]
        self.pages = {page["url"].removeprefix(server.url("")): page for page in pages}

    @property
    def bytes_written(self) -> int:
        """Of the database and of the output."""
        files = [self._folder / "s.json", *(self._folder / "job").rglob("*")]
        return sum(path.stat().st_size for path in files if path.is_file())

    def stat(self, name: str) -> int:
        """As Scrapy has dumped it."""
        lines = [line for line in self.ended.errors.splitlines() if f"'{name}': " in line]
        return int(lines[-1].partition(": ")[2].strip(" ,}")) if lines else 0

    def skipped(self) -> dict[str, int]:
        with sqlite3.connect(f"file:{self._folder}/job/crawl.db?mode=ro", uri=True) as database:
            rows = database.execute(
                "SELECT reason, count(*) FROM urls WHERE reason IS NOT NULL GROUP BY reason"
            )
            return dict(rows.fetchall())


@needs_proc
def test_links_that_a_base_makes_long_are_counted_and_not_kept(
    site: SiteFactory, tmp_path: Path, ordinary: int
) -> None:
    """The first page took 4.2 GB of memory, a crawl.db of 1.5 GB and an output of 1.3 GB."""
    session = "/session?sess=" + "z1" * 900
    attacks: dict[str, Any] = {
        "/base": packed(links(160_000)),
        "/dots": packed(links(20_000, href="../%d?x")),
        # Each is short enough, and all of them are not.
        "/short": packed(links(20_000, "/" + "d" * 1_900 + "/")),
        session: packed(links(20_000, "/", "/s%d?sess=abc12")),
        "/escaped": packed("".join(f"<a href='/{n}?{'é' * 1000}'>" for n in range(2_000))),
        "/href": packed("<a href='/" + "é" * 5_000_000 + "'>x"),
    }
    pages = {"/": {"links": [*attacks, "/fine"]}, "/fine": {}, **attacks}
    # Their links are found, and not fetched.
    wanted = "/$|/fine|/base|/dots|/short|/session|/escaped|/href"
    crawl = Crawl(tmp_path, site({"pages": pages}), "-a", f"include={wanted}")
    assert crawl.ended.status == 0
    assert crawl.ended.peak < ordinary + WORST
    # Of the characters of links, each page has 10 MB at most, here and there.
    assert crawl.bytes_written < 100 * MB
    assert {path: page.get("error") for path, page in crawl.pages.items()} == dict.fromkeys(pages)
    left_out = {path: page.get("links_left_out", 0) for path, page in crawl.pages.items()}
    assert left_out["/fine"] == left_out["/"] == 0
    assert all(left_out[path] > 0 for path in attacks)
    # Every link is accounted for: it is there, or it is counted.
    assert len(crawl.pages["/base"]["links"]) + left_out["/base"] == 160_000
    assert len(crawl.pages["/short"]["links"]) + left_out["/short"] == 20_000
    # The first that are too long are recorded, with their reason.
    assert 100 <= crawl.skipped()["url too long"] <= 100 * len(attacks)
    total = crawl.stat("links/left_out/too_long") + crawl.stat("links/left_out/page_limit")
    assert total == sum(left_out.values())
    # Said once, with the names of the settings, and in the summary.
    assert crawl.ended.errors.count("Links left out of ") == 1
    assert "URLS_MAX_LINK_CHARACTERS" in crawl.ended.errors
    assert f"{total:,} links left out for their length" in crawl.ended.errors


@needs_proc
def test_urls_that_a_sitemap_makes_long_are_counted_and_not_kept(
    site: SiteFactory, tmp_path: Path, ordinary: int
) -> None:
    """``xml:base`` is in each of them: 813 KB took 2.4 GB."""
    urls = "".join(f"<url><loc>{number}</loc></url>" for number in range(50_000))
    alternates = "".join(
        f"<url><loc>/{number}</loc>{other}</url>"
        for number in range(300)
        for other in [
            "".join(
                f'<xhtml:link rel="alternate" hreflang="l{n}" href="{number}-{n}"/>'
                for n in range(200)
            )
        ]
    )
    nested = "<a xml:base='" + "d" * 90 + "/'>"
    entries = "".join(f"<entry><link href='{number}'/></entry>" for number in range(20_000))
    files = {
        "/urls.xml": f'<urlset xml:base="{LONG}">{urls}</urlset>',
        "/alternates.xml": f'<urlset {NAMESPACES} xml:base="{LONG}">{alternates}</urlset>',
        "/index.xml": f'<sitemapindex xml:base="{LONG}">'
        + urls.replace("url>", "sitemap>")
        + "</sitemapindex>",
        "/atom.xml": f'<feed xml:base="{LONG}">{entries}</feed>',
        "/nested.xml": f"<feed>{nested * 200}{entries}{'</a>' * 200}</feed>",
    }
    robots = "\n".join(f"Sitemap: {path}" for path in files)
    attacks = {path: packed(body, "application/xml") for path, body in files.items()}
    server = site({"robots": robots, "pages": {"/": {}, **attacks}})
    crawl = Crawl(tmp_path, server, "-a", "include=/$")
    assert crawl.ended.status == 0
    assert crawl.ended.peak < ordinary + WORST
    assert crawl.bytes_written < 100 * MB
    assert crawl.stat("sitemaps/read") == len(files)
    assert crawl.stat("sitemaps/cut") >= 3
    assert crawl.stat("sitemaps/urls_left_out") > 10_000
    assert crawl.ended.errors.count("URLs left out of ") == 1
    assert "characters in all (SITEMAPS_MAX_BYTES)" in crawl.ended.errors


@needs_proc
def test_text_and_lists_of_words_take_no_more_than_a_page_may(
    site: SiteFactory, tmp_path: Path, ordinary: int
) -> None:
    """One emoji makes four bytes of each letter, a charset three of each byte, and a list of
    words thirty of each letter.
    """
    words = b"ab " * (10 * MB)
    attacks = {
        "/emoji": packed("<p>\N{SEEDLING}".encode() + words),
        "/charset": packed(b"<p>" + b"\x80\x80 " * (10 * MB), "text/html; charset=windows-1252"),
        "/rel": packed(b"<a href=/fine rel='" + words + b"'>x</a>"),
        "/link": packed(b"<link href=/fine rel='" + words + b"'>"),
        "/robots": packed(b"<meta name=robots content='" + words.replace(b" ", b",") + b"'>"),
        "/typeof": packed(b"<div vocab=http://v.example/ typeof='" + words + b"'>"),
        "/scripted": packed(b"<script>x</script><p>" + words),
    }
    server = site({"pages": {"/": {"links": [*attacks, "/fine"]}, "/fine": {}, **attacks}})
    crawl = Crawl(tmp_path, server, "-a", "concurrency=1")
    assert crawl.ended.status == 0
    assert crawl.ended.peak < ordinary + WORST
    assert {path: page.get("error") for path, page in crawl.pages.items()} == dict.fromkeys(
        ["/", "/fine", *attacks]
    )
    assert crawl.stat("pages/cut") == 1


def memory_of(call: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


VOCABULARY = "http://v.example/" + "v" * 270 + "/"


@pytest.mark.parametrize(
    "body",
    [
        f"<div vocab='{VOCABULARY}'>"
        + "".join(
            f"<div typeof='{' '.join(f't{n}' for n in range(20))}'><b property=x>y</b></div>"
            for _ in range(1000)
        ),
        f"<div vocab='{VOCABULARY}' typeof=T><b property='"
        + " ".join(f"p{n}" for n in range(20_000))
        + "'>x</b>",
        f'<script type="application/ld+json">{{"@context":{{"@vocab":"{VOCABULARY}"}},'
        + ",".join(f'"p{n}":1' for n in range(19_000))
        + "}</script>",
        f"<base href='{LONG}'><div itemscope>"
        + "".join(f"<a itemprop=a href={n}></a>" for n in range(9_000)),
        "<div id=a>"
        + "".join(f"<b itemprop=p{n}>{'y' * 50}</b>" for n in range(100))
        + "</div>"
        + "<div itemscope itemref=a></div>" * 100,
    ],
    ids=["types", "properties", "JSON-LD", "addresses", "itemref"],
)
def test_names_and_addresses_of_structured_data_count(body: str) -> None:
    """Each name has its vocabulary in it."""
    items, _ = structured_data(HtmlResponse("https://a.example/", body=body.encode()))
    assert len(json.dumps(items)) < 1.2 * MB


def test_pictures_and_versions_have_a_bound_together() -> None:
    from crawlproject.items import Page
    from crawlproject.pages.content import ContentReader

    body = f"<base href='{LONG}'>" + "".join(
        f"<img src={n}><video src=v{n}></video><link rel=alternate hreflang=l{n} href=a{n}>"
        for n in range(1000)
    )
    page = Page("https://a.example/")
    ContentReader(canonicalize).read(HtmlResponse(page.url, body=body.encode()), page)
    urls = [*page.images, *page.media, *page.alternates.values()]
    assert urls
    assert sum(map(len, urls)) < 1.1 * MB


def zstd_bomb(size: int, *, says_size: bool) -> bytes:
    """A frame of zeros, by hand: four bytes for every 128 KB."""
    block = 128 * 1024
    header = b"\xe0" + size.to_bytes(8, "little") if says_size else b"\x00\x58"
    blocks = [
        ((number == size // block - 1) | 1 << 1 | block << 3).to_bytes(3, "little") + b"\0"
        for number in range(size // block)
    ]
    return b"\x28\xb5\x2f\xfd" + header + b"".join(blocks)


TWO_GB = 2 * 1024**3


@pytest.mark.parametrize("says_size", [True, False])
def test_a_stored_body_that_unpacks_to_gigabytes_is_no_body(
    tmp_path: Path, says_size: bool
) -> None:
    key = hashlib.sha256(b"page").hexdigest()
    path = tmp_path / key[:2] / f"{key}.zst"
    path.parent.mkdir()
    path.write_bytes(zstd_bomb(TWO_GB, says_size=says_size))
    blobs = Blobs(Folder(tmp_path))

    def read() -> None:
        with pytest.raises(MissingBody):
            blobs.get(key)
        # The body takes the place of what is none.
        assert blobs.put(key, b"page")[1]

    assert memory_of(read) < 100 * MB
    assert blobs.get(key) == b"page"


@pytest.mark.parametrize("says_size", [True, False])
def test_a_value_in_redis_that_unpacks_to_gigabytes_is_malformed(says_size: bool) -> None:
    def read() -> None:
        with pytest.raises(Malformed):
            unpacked(zstd_bomb(TWO_GB, says_size=says_size))

    assert memory_of(read) < 300 * MB
