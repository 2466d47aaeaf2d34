"""What a crawl writes is for its owner only, and is never written through a link that somebody else
has put in its way.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.cluster.server import own_server
from crawlproject.errors import BadCrawlDirectory, BadOutput
from crawlproject.exports.storage import ReplacingFileStorage, replaced
from crawlproject.frontier.database import Claim, check, connect
from crawlproject.frontier.redis.binary import Server
from crawlproject.pipelines.blobs import Blobs, Folder
from crawlproject.private_files import create_new, create_private, keep_private, make_private
from tests.crawling import command_environment, crawl_site, scrapy
from tests.service.serving import Service

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

SITE: dict[str, Any] = {"pages": {"/": {"links": ["/a"]}, "/a": {"body": "text"}}, "robots": ""}


@contextmanager
def umask(value: int) -> Iterator[None]:
    before = os.umask(value)
    try:
        yield
    finally:
        os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def open_to_others(folder: Path) -> dict[str, str]:
    """What others may read, write or enter, at any depth, and how."""
    found = {}
    for path in [folder, *folder.rglob("*")]:
        # Those of SQLite come and go.
        try:
            mode = mode_of(path)
        except FileNotFoundError:
            continue
        if mode & 0o077:
            found[str(path.relative_to(folder.parent))] = oct(mode)
    return found


class Walker:
    """A pipeline that looks at the crawl directory while the crawl runs."""

    folder: Path
    seen: dict[str, str]
    names: set[str]

    def process_item(self, item: Any) -> Any:
        Walker.seen |= open_to_others(Walker.folder)
        Walker.names |= {path.name for path in Walker.folder.rglob("*")}
        return item


@pytest.mark.parametrize("mask", [0o000, 0o022])
@deferred_f_from_coro_f
async def test_a_crawl_directory_is_private(site: SiteFactory, tmp_path: Path, mask: int) -> None:
    server = site(SITE)
    folder = tmp_path / "crawls" / "site"
    Walker.folder, Walker.seen, Walker.names = folder.parent, {}, set()
    settings = {
        "JOBDIR": str(folder),
        "STORE_BODIES": True,
        "MONITORING_SNAPSHOT_FILE": str(folder / "now.json"),
        "ITEM_PIPELINES": {f"{Walker.__module__}.Walker": 950},
    }
    with umask(mask):
        await crawl_site(server.url(), settings)
    assert Walker.names >= {"crawl.db", "crawl.db-wal", "crawl.db-shm", "crawl.lock", "bodies"}
    assert {path.name for path in folder.rglob("*")} >= {"now.json", "new"}
    assert Walker.seen == {}
    assert open_to_others(tmp_path / "crawls") == {}


def test_a_command_writes_private_files_and_outputs_by_the_umask(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SITE)
    (tmp_path / "old.json").write_text("{}")
    (tmp_path / "old.json").chmod(0o600)
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"seed={server.url()}"]
    command += ["-s", "JOBDIR=job", "-s", "MONITORING_SNAPSHOT_FILE=now.json"]
    command += ["--logfile", "crawl.log", "-O", "new.json", "-O", "old.json", "-O", "out.jsonl"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=command_environment(),
        capture_output=True,
        timeout=60,
        check=False,
        # Whatever the system's, and its services' (000 is common).
        umask=0o000,
    )
    assert done.returncode == 0, done.stderr
    modes = {path.name: oct(mode_of(path)) for path in tmp_path.iterdir()}
    assert modes == {
        "job": "0o700",
        "crawl.log": "0o600",
        "now.json": "0o600",
        # The user's: as the umask says, or as it was.
        "new.json": "0o666",
        "out.jsonl": "0o666",
        "old.json": "0o600",
    }
    assert open_to_others(tmp_path / "job") == {}


def test_what_the_service_keeps_is_private(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SITE)
    dbs = tmp_path / "var" / "dbs"
    dbs.mkdir(parents=True)
    # Of an earlier version, which let everybody read it.
    (dbs / "jobs.db").touch(mode=0o644)
    (tmp_path / "var").chmod(0o755)
    dbs.chmod(0o755)
    with Service(tmp_path) as service:
        job = service.order(server.url(), outputs=["json", "html"], store_bodies=True)
        many = [server.url(f"/a?{n},") for n in range(3)]
        other = service.post("/crawler/seeds", {"urls": many}).json["id"]
        assert service.until_ended(job)["status"] == "finished"
        service.until_ended(other)
        seen = open_to_others(tmp_path / "var")
        names = {path.name for path in (tmp_path / "var").rglob("*")}
    assert names >= {"book.sqlite", "book.sqlite-wal", "crawl.db", "sitemap.json", "seeds.txt"}
    assert names >= {"service.lock", "snapshot.json", f"{job}.log", "crawlproject.db", "bodies"}
    # Two folders were there before, and are the user's business.
    assert seen == {"var": "0o755", "var/dbs": "0o755"}
    assert open_to_others(tmp_path / "var") == seen


def test_a_redis_of_ours_is_private(tmp_path: Path) -> None:
    with umask(0o000), own_server(tmp_path / "job") as url:
        assert url.startswith("unix://")
        names = {path.name for path in (tmp_path / "job" / "redis").iterdir()}
        assert names >= {"redis.conf", "redis.log", "redis.sock"}
        assert any(name.startswith("appendonly") for name in names)
        assert open_to_others(tmp_path / "job") == {}


def test_a_folder_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    job, store = tmp_path / "job", tmp_path / "store"
    for folder, mode in ((job, 0o755), (store, 0o770)):
        folder.mkdir()
        folder.chmod(mode)
    (job / "notes.txt").touch(mode=0o644)
    with umask(0o002):
        claim = Claim(job)
        connect(job).close()
        claim.release()
        key = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
        Blobs(Folder(store)).put(key, b"foo")
    assert (mode_of(job), mode_of(job / "notes.txt")) == (0o755, 0o644)
    assert (mode_of(job / "crawl.db"), mode_of(job / "crawl.lock")) == (0o600, 0o600)
    # A store that a group shares is shared with what is in it.
    (blob,) = store.rglob("*.zst")
    assert (mode_of(blob.parent), mode_of(blob)) == (0o770, 0o660)


# --- links in the way

CONTENT = "not to be touched"


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "victim"
    path.write_text(CONTENT)
    path.chmod(0o640)
    yield path
    assert (path.read_text(), mode_of(path)) == (CONTENT, 0o640)


LINKS = [os.symlink, os.link]


def plant(link: Any, victim: Path, *places: Path) -> None:
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        link(victim, place)


@pytest.mark.parametrize("link", LINKS)
def test_a_link_beside_an_output_is_not_followed(
    site: SiteFactory, tmp_path: Path, victim: Path, link: Any
) -> None:
    server, folder = site(SITE), tmp_path / "shared"
    names = ("out.json", "out.csv", "report.html", "now.json")
    plant(link, victim, *(folder / f".{name}.partial" for name in names))
    done = scrapy(
        *("crawl", "site", "-a", f"seed={server.url()}", "-s", "JOBDIR=job"),
        *("-O", "out.json", "-O", "out.csv", "-s", "MONITORING_SNAPSHOT_FILE=now.json"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    done = scrapy("report", "job", "-o", "report.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert len(json.loads((folder / "out.json").read_text())["pages"]) == 2
    for name in names:
        path = folder / name
        assert path.stat().st_size > len(CONTENT)
        assert (path.is_symlink(), path.stat().st_nlink) == (False, 1)
    assert list(folder.glob(".*.partial")) == []


@pytest.mark.parametrize("link", LINKS)
def test_a_link_in_a_crawl_directory_is_not_followed(
    tmp_path: Path, victim: Path, link: Any
) -> None:
    job, locked, store = (tmp_path / name for name in ("job", "locked", "store"))
    plant(link, victim, job / ".crawl.db.new", job / ".crawl.db.new-wal", locked / "crawl.lock")
    connect(job).close()
    assert (job / "crawl.db").stat().st_nlink == 1
    with pytest.raises(BadCrawlDirectory, match="can't use the crawl directory"):
        Claim(locked)
    plant(link, victim, store / "new" / "x")
    folder = Folder(store)
    folder.clear()
    folder.write("ab/c", b"data")
    assert (store / "ab" / "c").read_bytes() == b"data"


@pytest.mark.parametrize("link", LINKS)
def test_a_link_in_the_folder_of_a_redis_is_not_followed(
    tmp_path: Path, victim: Path, link: Any
) -> None:
    folder = tmp_path / "redis"
    plant(link, victim, folder / "redis.conf", folder / "redis.log")
    with Server(folder, is_socket=True, password="hidden") as server:
        assert server.pid
    assert mode_of(folder / "redis.conf") == 0o600


def test_an_output_may_be_a_link_of_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "out.json"
    target.write_text("old")
    (tmp_path / "out.json").symlink_to(target)
    with replaced(tmp_path / "out.json") as file:
        file.write(b"new")
    assert (tmp_path / "out.json").is_symlink()
    assert target.read_text() == "new"
    # So may the crawl directory.
    (tmp_path / "job").symlink_to(tmp_path / "real")
    claim = Claim(tmp_path / "job")
    connect(tmp_path / "job").close()
    claim.release()
    assert (tmp_path / "real" / "crawl.db").is_file()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a link that is another user's")
def test_an_output_that_is_a_link_of_another_user_is_refused(tmp_path: Path, victim: Path) -> None:
    path = tmp_path / "out.json"
    path.symlink_to(victim)
    os.lchown(path, 65_534, 65_534)
    with pytest.raises(BadOutput, match="it is a link of another user's"), replaced(path):
        pass
    done = scrapy("crawl", "site", "-a", "seed=http://127.0.0.1:1/", "-O", str(path), cwd=tmp_path)
    assert done.returncode == 2
    assert f"can't write {str(path)!r}: it is a link of another user's" in done.stderr
    options = ("-a", "seed=http://127.0.0.1:1/", "--logfile", str(path))
    done = scrapy("crawl", "site", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert "it is a link of another user's" in done.stderr
    path.rename(tmp_path / "crawl.db")
    with pytest.raises(BadCrawlDirectory, match="is a link of another user's"):
        check(tmp_path)


def test_a_draft_is_never_more_open_than_what_it_replaces(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("private")
    path.chmod(0o600)
    storage = ReplacingFileStorage(str(path), feed_options={"format": "json", "overwrite": True})
    with umask(0o000):
        file = storage.open(None)  # type: ignore[arg-type]
        assert mode_of(Path(file.name)) == 0o600
        storage.store(file)
        assert mode_of(path) == 0o600
        with replaced(path) as file:
            assert mode_of(Path(file.name)) == 0o600


def test_private_files(tmp_path: Path) -> None:
    with umask(0o000):
        make_private(tmp_path / "a" / "b")
        make_private(tmp_path / "a" / "b")
        create_private(tmp_path / "a" / "file")
        create_private(tmp_path / "a" / "file")
        with create_new(tmp_path / "a" / "new") as file:
            assert Path(file.name) == tmp_path / "a" / "new"
    assert open_to_others(tmp_path / "a") == {}
    (tmp_path / "open").touch()
    (tmp_path / "open").chmod(0o664)
    keep_private(tmp_path / "open")
    keep_private(tmp_path / "nosuch")
    assert mode_of(tmp_path / "open") == 0o600
    with pytest.raises(FileExistsError):
        make_private(tmp_path / "open")
    with pytest.raises(NotADirectoryError):
        make_private(tmp_path / "open" / "below")
