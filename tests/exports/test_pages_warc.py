"""The archive of a crawl, read by others: FastWARC, and warcio's own check."""

from __future__ import annotations

import random
import sys
import warnings
from argparse import Namespace
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import zstandard
from scrapy.utils.defer import deferred_f_from_coro_f
from warcio.checker import Checker

from tests.answers import ANSWERS, PICTURE, TEXT
from tests.crawling import command_environment, crawl_site, scrapy
from tests.forking import Forked
from tests.killing import Command
from tests.site.fixture import Site
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SiteFactory = Callable[..., Site]

with warnings.catch_warnings():
    # Of its own old names, at every import.
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator

SITE: dict[str, Any] = {
    "robots": "User-agent: *\nDisallow: /private\n",
    "pages": {
        "/": {
            "links": ["/picture", "/packed", "/old", "/gone", "/a", "/b", "/c?q=1&r=2", "/private"],
            "headers": {"X-Name": "M\xfcller", "Set-Cookie": ["a=1", "b=2"]},
            "title": "Home",
        },
        **ANSWERS,
        "/c?q=1&r=2": {"body": ""},
    },
}


class Entry(NamedTuple):
    kind: str
    url: str | None
    headers: dict[str, str]
    http: Any
    status: int | None
    body: bytes


def read(path: Path) -> list[Entry]:
    """All records, by FastWARC, which checks the digests."""
    entries = []
    with path.open("rb") as file:
        for record in ArchiveIterator(file, parse_http=False):
            kind = record.headers["WARC-Type"]
            assert record.verify_block_digest(), record.headers
            is_http = kind in {"response", "request", "revisit"}
            if is_http:
                record.parse_http()
            if kind == "response":
                assert record.verify_payload_digest(), record.headers
            http = list(record.http_headers) if is_http else None
            status = record.http_headers.status_code if is_http else None
            url = record.headers.get("WARC-Target-URI")
            entries.append(
                Entry(kind, url, dict(record.headers), http, status, record.reader.read())
            )
    return entries


def check(path: Path) -> None:
    """As ``warcio check`` does."""
    checker = Checker(Namespace(inputs=[str(path)], verbose=False))
    assert checker.process_all() == 0


def feeds(*paths: Path) -> dict[str, Any]:
    """Without a format: it follows from the name."""
    return {"FEEDS": {str(path): {"overwrite": True} for path in paths}}


class Archive(NamedTuple):
    folder: Path
    port: int

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def read(self, name: str = "pages.warc.gz") -> list[Entry]:
        return read(self.folder / name)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """What one crawl has written, for all who only read it."""
    folder = tmp_path_factory.mktemp("archive")
    outputs = ("-O", "pages.warc.gz", "-O", "pages.warc")
    with Site(SITE) as server:
        done = scrapy("crawl", "site", "-a", f"seed={server.url()}", *outputs, cwd=folder)
        assert done.returncode == 0, done.stderr
        return Archive(folder, server.port)


def of(entries: list[Entry], kind: str) -> dict[str | None, Entry]:
    return {entry.url: entry for entry in entries if entry.kind == kind}


@pytest.mark.parametrize("name", ["pages.warc.gz", "pages.warc"])
def test_the_archive_has_every_answer_and_other_readers_agree(archive: Archive, name: str) -> None:
    check(archive.folder / name)
    entries = archive.read(name)
    assert entries[0].kind == "warcinfo"
    urls = [archive.url(page) for page in SITE["pages"]]
    private = archive.url("/private")
    assert Counter(entry.kind for entry in entries) == {
        "warcinfo": 1,
        "response": 8,
        "revisit": 1,
        "request": 9,
        "metadata": 10,
    }
    assert {entry.url for entry in entries} == {None, private, *urls}
    assert [entry.url for entry in entries[1:]] == sorted(str(entry.url) for entry in entries[1:])
    responses = of(entries, "response")
    assert responses[archive.url("/picture")].body == PICTURE
    assert responses[archive.url("/gone")].status == 410
    assert responses[archive.url("/gone")].body == b"gone for good"
    assert {entry.headers["WARC-IP-Address"] for entry in responses.values()} == {"127.0.0.1"}
    assert len({entry.headers["WARC-Record-ID"] for entry in entries}) == len(entries)
    # Each names the others of its kind.
    for url, request in of(entries, "request").items():
        answer = responses.get(url) or of(entries, "revisit")[url]
        assert request.headers["WARC-Concurrent-To"] == answer.headers["WARC-Record-ID"]
        assert request.headers["WARC-Date"] == answer.headers["WARC-Date"]


def test_a_decoded_body_has_headers_that_fit_it(archive: Archive) -> None:
    packed = of(archive.read(), "response")[archive.url("/packed")]
    assert packed.body == TEXT.encode()
    headers = dict(packed.http)
    assert headers["Content-Length"] == str(len(TEXT.encode()))
    assert headers["X-Archive-Orig-Content-Encoding"] == "gzip"
    assert headers["X-Archive-Orig-Transfer-Encoding"] == "chunked"
    assert not {"Content-Encoding", "Transfer-Encoding"} & set(headers)


def test_headers_have_the_bytes_that_they_had(archive: Archive) -> None:
    text = (archive.folder / "pages.warc").read_bytes()
    assert b"\r\nX-Name: M\xc3\xbcller\r\n" in text
    assert b"\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n" in text
    assert f"\r\n\r\nGET /c?q=1&r=2 HTTP/1.1\r\nHost: 127.0.0.1:{archive.port}\r\n".encode() in text


def test_a_body_that_was_written_before_is_a_revisit(archive: Archive) -> None:
    entries = archive.read()
    first = of(entries, "response")[archive.url("/a")]
    (again,) = of(entries, "revisit").values()
    assert again.url == archive.url("/b")
    assert (again.status, again.body) == (200, b"")
    assert again.headers["WARC-Payload-Digest"] == first.headers["WARC-Payload-Digest"]
    assert again.headers["WARC-Refers-To"] == first.headers["WARC-Record-ID"]
    assert again.headers["WARC-Refers-To-Target-URI"] == first.url
    assert again.headers["WARC-Refers-To-Date"] == first.headers["WARC-Date"]
    assert again.headers["WARC-Profile"].endswith("/1.1/revisit/identical-payload-digest")


def test_a_redirect_is_an_answer_without_a_body(archive: Archive) -> None:
    entries = archive.read()
    redirect = of(entries, "response")[archive.url("/old")]
    headers = dict(redirect.http)
    assert (redirect.status, redirect.body, headers["Location"]) == (301, b"", "/new")
    assert (headers["Content-Length"], headers["X-Archive-Orig-Content-Length"]) == ("0", "5")
    assert redirect.headers["WARC-Truncated"] == "unspecified"
    fields = of(entries, "metadata")[archive.url("/old")].body.decode()
    assert f"redirectsTo: {archive.url('/new')}\r\n" in fields


def test_metadata_says_what_the_answer_does_not(archive: Archive) -> None:
    metadata = of(archive.read(), "metadata")
    fields = dict(
        line.split(": ", 1) for line in metadata[archive.url("/gone")].body.decode().splitlines()
    )
    assert fields["via"] == archive.url()
    assert fields["depth"] == "1"
    assert fields["error"] == "unexpected status 410"
    assert int(fields["fetchTimeMs"]) >= 0
    assert fields["contentHash"].startswith("sha256:")
    # A page without an answer has nothing else.
    private = metadata[archive.url("/private")].body.decode()
    assert "error: robots\r\n" in private
    assert b"title: Home\r\n" in metadata[archive.url()].body


@deferred_f_from_coro_f
async def test_writing_it_again_gives_the_same_bytes(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SITE)
    for number in (1, 2):
        settings = feeds(tmp_path / f"{number}.warc.gz", tmp_path / f"{number}.warc")
        await crawl_site(server.url(), {**settings, "JOBDIR": str(tmp_path / "job")})
    assert len(server.paths()) == len(SITE["pages"])
    for ending in ("warc", "warc.gz"):
        one, two = (tmp_path / f"{number}.{ending}" for number in (1, 2))
        assert one.read_bytes() == two.read_bytes()


def test_after_kills_the_archive_has_the_answers_of_all_runs(
    site: SiteFactory, tmp_path: Path
) -> None:
    pages = 150
    server = site(
        {
            "generated": {"kind": "mesh", "pages": pages, "links": 5},
            "random_delay": [0.005, 0.03],
        }
    )
    path = tmp_path / "pages.warc.gz"
    command = Command(tmp_path, "-a", f"seed={server.url()}", "-O", str(path))
    luck = random.Random(8)
    for paths in range(10, pages, 35):
        command.run_until_asked(server, paths, later=luck.uniform(0, 0.1))
    done = command.run()
    assert done.returncode == 0, done.stderr
    check(path)
    entries = read(path)
    assert len(of(entries, "response")) == len(of(entries, "request")) == pages
    assert f"pages.warc.gz ({pages} pages)" in done.stderr


def test_what_was_fetched_without_a_store_is_told(site: SiteFactory, tmp_path: Path) -> None:
    server, path = site(SITE), tmp_path / "pages.warc.gz"
    assert Command(tmp_path, "-a", f"seed={server.url()}").run().returncode == 0
    done = Command(tmp_path, "-a", f"seed={server.url()}", "-O", str(path)).run()
    assert done.returncode == 0, done.stderr
    assert (
        "9 pages are in the archive without their answers, because these are not in the store; "
        f"the first: {server.url()}: it was fetched when STORE_BODIES was off"
    ) in done.stderr
    check(path)
    assert len(of(read(path), "metadata")) == 10


@pytest.mark.parametrize(
    "data", [b"half", zstandard.ZstdCompressor().compress(bytes(10_000_000))], ids=["half", "bomb"]
)
@deferred_f_from_coro_f
async def test_a_blob_that_is_damaged_is_left_out(
    site: SiteFactory, tmp_path: Path, caplog: pytest.LogCaptureFixture, data: bytes
) -> None:
    server, path = site(SITE), tmp_path / "pages.warc.gz"
    settings = {**feeds(path), "JOBDIR": str(tmp_path / "job")}
    await crawl_site(server.url(), settings)
    stored = of(read(path), "metadata")[server.url("/gone")].body.decode()
    key = stored.partition("contentHash: sha256:")[2][:64]
    (tmp_path / "job" / "bodies" / key[:2] / f"{key}.zst").write_bytes(data)
    await crawl_site(server.url(), settings)
    check(path)
    entries = read(path)
    assert server.url("/gone") not in of(entries, "response")
    assert server.url("/gone") in of(entries, "metadata")
    assert "1 pages are in the archive without their answers" in caplog.text


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["-o", "x.warc.gz"], "'x.warc.gz' exists, and nothing can be appended to such a file"),
        (
            ["-s", 'FEEDS={"y.warc.gz": {"item_classes": ["crawlproject.items.Page"]}}'],
            "can't write 'y.warc.gz': a WARC holds all pages: leave out item_classes",
        ),
        (["-O", "x.json.gz"], "Unrecognized output format 'gz': give the file the extension"),
    ],
)
def test_what_is_no_archive_is_refused_before_the_first_request(
    site: SiteFactory, tmp_path: Path, options: list[str], complaint: str
) -> None:
    server = site(SITE)
    (tmp_path / "x.warc.gz").write_bytes(b"of yesterday")
    done = scrapy("crawl", "site", "-a", f"seed={server.url()}", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert f"scrapy crawl: error: {complaint}" in done.stderr
    assert server.log() == []


def test_an_archive_may_go_to_standard_output(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SITE)
    with (tmp_path / "out.warc").open("wb") as out:
        command = ("crawl", "site", "-a", f"seed={server.url()}", "-O", "-:warc")
        process = Forked(
            [sys.executable, "-m", "scrapy", *command],
            cwd=tmp_path,
            env=command_environment(),
            stdout=out,
        )
        assert process.wait(PATIENCE) == 0
    check(tmp_path / "out.warc")
