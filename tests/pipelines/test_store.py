"""What a crawl keeps of every answer, and that it is there whenever its page is."""

from __future__ import annotations

import hashlib
import json
import random
import resource
import sqlite3
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from scrapy.exceptions import DropItem
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.items import Page
from crawlproject.pipelines.blobs import Blobs, Folder
from crawlproject.pipelines.remote import Remote
from tests.answers import ANSWERS, PICTURE, TEXT
from tests.crawling import PROJECT, crawl_site, fresh_scrapy, scrapy
from tests.killing import Command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

SITE: dict[str, Any] = {
    "pages": {
        "/": {
            "links": ["/picture", "/packed", "/old", "/gone", "/a", "/b", "/empty"],
            "headers": {
                "X-First": "1",
                "Set-Cookie": ["a=1", "b=2"],
                "ETag": '"v1"',
                "Last-Modified": "Mon, 16 Nov 2026 02:23:31 GMT",
            },
        },
        **ANSWERS,
        "/empty": {"body": ""},
    }
}


def stored_in(job: Path) -> dict[str, dict[str, Any]]:
    with closing(sqlite3.connect(job / "crawl.db")) as database:
        rows = database.execute("SELECT url, answer FROM stored JOIN urls USING (id)")
        return {url: json.loads(answer) for url, answer in rows}


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def key_of(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


@deferred_f_from_coro_f
async def test_every_answer_is_kept_with_its_headers_and_its_body(
    site: SiteFactory, tmp_path: Path
) -> None:
    server, job = site(SITE), tmp_path / "job"
    crawled = await crawl_site(server.url(), {"JOBDIR": str(job), "STORE_BODIES": True})
    stored = stored_in(job)
    assert set(stored) == {server.url(path) for path in SITE["pages"]}
    blobs = Blobs(Folder(job / "bodies"))
    bodies = {
        url: blobs.get(answer["content_hash"])
        for url, answer in stored.items()
        if answer["content_hash"]
    }
    assert bodies[server.url("/picture")] == PICTURE
    assert bodies[server.url("/packed")] == TEXT.encode()
    assert bodies[server.url("/gone")] == b"gone for good"
    assert bodies[server.url("/empty")] == b""
    # A body is stored once.
    distinct = {answer["content_hash"] for answer in stored.values()} - {None}
    assert files_in(job / "bodies") == sorted(f"{key}.zst" for key in distinct)
    assert crawled.stats["store/bodies"] == len(distinct) == 7
    assert crawled.stats["store/bodies_again"] == 1
    assert crawled.stats["store/body_bytes"] == sum(map(len, set(bodies.values())))
    page = crawled.pages[server.url("/packed")]
    assert page.content_hash == key_of(TEXT.encode())


@deferred_f_from_coro_f
async def test_headers_are_kept_as_they_were_on_the_wire(site: SiteFactory, tmp_path: Path) -> None:
    server, job = site(SITE), tmp_path / "job"
    settings = {
        "JOBDIR": str(job),
        "STORE_BODIES": True,
        "HTTPAUTH_USER": "me",
        "HTTPAUTH_PASS": "secret",
        "HTTPAUTH_DOMAIN": f"127.0.0.1:{server.port}",
    }
    await crawl_site(server.url(), settings)
    home = stored_in(job)[server.url()]
    names = [name for name, _ in home["response_headers"]]
    assert [value for name, value in home["response_headers"] if name == "Set-Cookie"] == [
        "a=1",
        "b=2",
    ]
    assert names.index("X-First") < names.index("Set-Cookie") < names.index("ETag")
    assert (home["status"], home["reason"], home["http_version"]) == (200, "OK", "HTTP/1.1")
    assert (home["etag"], home["last_modified"]) == ('"v1"', "Mon, 16 Nov 2026 02:23:31 GMT")
    assert home["content_type"] == "text/html; charset=utf-8"
    assert home["ip_address"] == "127.0.0.1"
    sent = dict(home["request_headers"])
    assert sent["Host"] == f"127.0.0.1:{server.port}"
    assert sent["User-Agent"].startswith("crawlproject/")
    # It was sent, but is in no archive.
    (asked,) = [entry for entry in server.log() if entry["path"] == "/"]
    assert any(name.lower() == "authorization" for name in asked["headers"])
    assert "secret" not in (job / "crawl.db").read_bytes().decode("latin-1")
    assert not any(name.lower() == "authorization" for name in sent)
    packed = stored_in(job)[server.url("/packed")]
    assert ["Content-Encoding", "gzip"] in packed["response_headers"]
    assert packed["content_encoding"] is None
    redirect = stored_in(job)[server.url("/old")]
    assert (redirect["status"], redirect["content_hash"], redirect["body_bytes"]) == (301, None, 5)
    assert ["Location", "/new"] in redirect["response_headers"]
    gone = stored_in(job)[server.url("/gone")]
    assert (gone["status"], gone["error"]) == (410, "unexpected status 410")


@deferred_f_from_coro_f
async def test_nothing_is_stored_unless_it_is_asked_for(site: SiteFactory, tmp_path: Path) -> None:
    server, job = site(SITE), tmp_path / "job"
    crawled = await crawl_site(server.url(), {"JOBDIR": str(job)})
    assert stored_in(job) == {}
    assert not (job / "bodies").exists()
    assert not any(key.startswith("store/") for key in crawled.stats)


@pytest.mark.parametrize("max_pages", ["3", "6"])
@deferred_f_from_coro_f
async def test_answers_that_wait_for_their_turn_are_kept_too(
    site: SiteFactory, tmp_path: Path, max_pages: str
) -> None:
    server, job = site(SITE), tmp_path / "job"
    settings = {"JOBDIR": str(job), "STORE_BODIES": True}
    crawled = await crawl_site(server.url(), settings, max_pages=max_pages)
    assert set(crawled.pages) <= set(stored_in(job))
    await crawl_site(server.url(), settings)
    assert set(stored_in(job)) == {server.url(path) for path in SITE["pages"]}


class NoPictures:
    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page) and item.content_type == "image/png":
            raise DropItem("a picture")
        return item


@deferred_f_from_coro_f
async def test_what_a_team_drops_is_not_stored_and_its_pipelines_leave_ours_in_place(
    site: SiteFactory, tmp_path: Path
) -> None:
    server, job = site(SITE), tmp_path / "job"
    settings = {"JOBDIR": str(job), "STORE_BODIES": True, "ITEM_PIPELINES": {NoPictures: 300}}
    await crawl_site(server.url(), settings)
    assert server.url("/picture") not in stored_in(job)
    assert f"{key_of(PICTURE)}.zst" not in files_in(job / "bodies")
    assert server.url("/a") in stored_in(job)


@pytest.mark.parametrize("kind", ["memory", "local", "file"])
@deferred_f_from_coro_f
async def test_bodies_may_go_where_fsspec_leads(
    site: SiteFactory, tmp_path: Path, kind: str
) -> None:
    server, job = site(SITE), tmp_path / "job"
    uri = f"memory://{uuid4()}/x" if kind == "memory" else f"{kind}://{tmp_path}/elsewhere"
    settings = {"JOBDIR": str(job), "STORE_BODIES": True, "STORE_URI": uri}
    await crawl_site(server.url(), settings)
    assert not (job / "bodies").exists()
    place = Folder(tmp_path / "elsewhere") if kind == "file" else Remote(uri)
    blobs = Blobs(place)
    stored = stored_in(job)
    assert blobs.get(stored[server.url("/picture")]["content_hash"]) == PICTURE
    where = str(tmp_path / "elsewhere") if kind == "file" else uri
    assert {answer["store"] for answer in stored.values() if answer["content_hash"]} == {where}


@deferred_f_from_coro_f
async def test_a_blob_that_is_cut_off_is_written_anew(site: SiteFactory, tmp_path: Path) -> None:
    server, folder = site(SITE), tmp_path / "bodies"
    settings = {"STORE_BODIES": True, "STORE_URI": str(folder)}
    await crawl_site(server.url(), {**settings, "JOBDIR": str(tmp_path / "one")})
    blob = folder / key_of(PICTURE)[:2] / f"{key_of(PICTURE)}.zst"
    whole = blob.read_bytes()
    blob.write_bytes(whole[:1000])
    crawled = await crawl_site(server.url(), {**settings, "JOBDIR": str(tmp_path / "two")})
    assert blob.read_bytes() == whole
    assert crawled.stats["store/bodies"] == 1


def no_file_above_300_kb() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))


def test_a_full_disk_ends_the_crawl_and_the_next_run_has_it_all(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SITE)
    output = str(tmp_path / "s.json")
    options = ("-a", f"seed={server.url()}", "-O", output, "-s", "STORE_BODIES=yes")
    done = Command(tmp_path, *options, before=no_file_above_300_kb).run()
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert (
        f"error: the crawl directory can't be used: the body of {server.url('/picture')} can't be "
        f"stored in '{tmp_path}/job/bodies': File too large. No output was written; the same "
        "command goes on from what is there"
    ) in done.stderr
    assert server.url("/picture") not in stored_in(tmp_path / "job")
    # No half of it is left, under whatever name.
    assert not list((tmp_path / "job/bodies/new").iterdir())
    done = Command(tmp_path, *options).run()
    assert done.returncode == 0, done.stderr
    assert set(stored_in(tmp_path / "job")) == {server.url(path) for path in SITE["pages"]}
    assert Blobs(Folder(tmp_path / "job/bodies")).get(key_of(PICTURE)) == PICTURE


def test_whatever_is_killed_every_page_that_is_kept_has_its_body(
    site: SiteFactory, tmp_path: Path
) -> None:
    pages = 200
    server = site(
        {
            "generated": {"kind": "mesh", "pages": pages, "links": 5, "words": 3000},
            "random_delay": [0.005, 0.03],
        }
    )
    command = Command(
        tmp_path,
        *("-a", f"seed={server.url()}", "-s", "STORE_BODIES=True", "-s", "FRONTIER_COMMIT_PAGES=5"),
    )
    luck = random.Random(5)
    for paths in range(10, pages, 35):
        command.run_until_asked(server, paths, later=luck.uniform(0, 0.1))
        if (command.job / "crawl.db").exists():
            reader = Blobs(Folder(command.job / "bodies"))
            for answer in stored_in(command.job).values():
                assert len(reader.get(answer["content_hash"])) == answer["body_bytes"]
    done = command.run()
    assert done.returncode == 0, done.stderr
    stored = stored_in(command.job)
    assert len(stored) == pages
    keys = {answer["content_hash"] for answer in stored.values()}
    assert files_in(command.job / "bodies") == sorted(f"{key}.zst" for key in keys)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (["STORE_BODIES=perhaps"], "STORE_BODIES: 'perhaps' is not 'yes' or 'no'"),
        (
            ["STORE_BODIES=yes", "REDIS_URL=redis://127.0.0.1:1/0"],
            "STORE_URI: missing: the workers of a shared crawl keep bodies in one place",
        ),
        (["STORE_BODIES=yes", "STORE_URI="], "STORE_URI: '' is not a line of text"),
        (["STORE_BODIES=yes", "STORE_URI=nosuch://x"], "STORE_URI: can't store in 'nosuch://x': "),
        (
            ["STORE_URI=/tmp/x"],
            "STORE_URI: nothing is stored there without -s STORE_BODIES=True",
        ),
        (
            ["STORE_BODIES=yes", "STORE_URI=/dev/null/x"],
            "STORE_URI: can't store in '/dev/null/x': Not a directory",
        ),
    ],
)
def test_a_store_that_cannot_be_used_is_told_before_the_first_request(
    site: SiteFactory, tmp_path: Path, settings: list[str], complaint: str
) -> None:
    server = site(SITE)
    options = [part for setting in settings for part in ("-s", setting)]
    done = scrapy("crawl", "site", "-a", f"seed={server.url()}", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert f"scrapy crawl: error: {complaint}" in done.stderr
    assert done.stderr.count("\n") == 1
    assert server.log() == []


def test_bodies_that_nobody_will_find_are_warned_of(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SITE)
    seed = ("-a", f"seed={server.url()}", "-s", "STORE_BODIES=yes")
    warning = "-s JOBDIR=… or -s STORE_URI=… keeps them"
    done = scrapy("crawl", "site", *seed, "-O", "s.json", cwd=tmp_path)
    assert (done.returncode, done.stderr.count(warning)) == (0, 1)
    for options in (("-O", "s.warc.gz"), ("-s", "JOBDIR=job"), ("-s", "STORE_URI=bodies")):
        assert warning not in scrapy("crawl", "site", *seed, *options, cwd=tmp_path).stderr


def test_without_fsspec_it_says_how_to_get_it(site: SiteFactory, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text('import sys\nsys.modules["fsspec"] = None\n')
    server = site(SITE)
    options = ("-s", "STORE_BODIES=yes", "-s", "STORE_URI=memory://x")
    done = fresh_scrapy(
        *("crawl", "site", "-a", f"seed={server.url()}", *options),
        cwd=tmp_path,
        PYTHONPATH=f"{tmp_path}:{PROJECT}",
    )
    assert done.returncode == 2
    assert done.stderr == (
        "scrapy crawl: error: STORE_URI: can't store in 'memory://x': fsspec is not installed: "
        f"{sys.executable} -m pip install -c {PROJECT}/constraints.txt "
        f"-r {PROJECT}/requirements-remote.txt\n"
    )
    assert server.log() == []
