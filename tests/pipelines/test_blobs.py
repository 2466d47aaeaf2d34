"""Bodies in a store: one copy of each content, and none that is not whole."""

from __future__ import annotations

import hashlib
import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
import zstandard

from crawlproject.pipelines.blobs import Blobs, Folder, MissingBody, StoreError
from crawlproject.pipelines.places import Shelves, local_path, place_of, store_name
from crawlproject.pipelines.remote import Remote

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawlproject.pipelines.blobs import Place

BODIES = (
    b"",
    b"<p>a page",
    bytes(range(256)) * 40,
    random.Random(1).randbytes(300_000),
    b"\0" * 1_000_000,
)


def key_of(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


@pytest.fixture(params=["folder", "local", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "folder":
        return Folder(tmp_path / "bodies")
    if request.param == "local":
        return Remote(f"local://{tmp_path}/remote")
    return Remote(f"memory://{uuid4()}/bodies")


@pytest.mark.parametrize("body", BODIES, ids=["empty", "small", "binary", "random", "zeros"])
def test_what_is_put_can_be_had_by_another_reader(place: Place, body: bytes) -> None:
    blobs, key = Blobs(place), key_of(body)
    assert not blobs.has(key)
    size, is_new = blobs.put(key, body)
    assert is_new
    data = place.read(f"{key[:2]}/{key}.zst")
    assert data is not None
    assert len(data) == size
    assert zstandard.ZstdDecompressor().decompress(data) == body
    assert Blobs(place).has(key)
    assert Blobs(place).get(key) == body


class Counted:
    """A place that counts."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.name, self.is_slow = place.name, place.is_slow
        self.reads = self.writes = 0

    def read(self, name: str, most_bytes: int | None = None) -> bytes | None:
        self.reads += 1
        return self._place.read(name, most_bytes)

    def write(self, name: str, data: bytes) -> None:
        self.writes += 1
        self._place.write(name, data)


def test_ten_thousand_equal_bodies_are_written_once(place: Place, tmp_path: Path) -> None:
    counted = Counted(place)
    blobs, body = Blobs(counted), b"the same footer page " * 100
    outcomes = [blobs.put(key_of(body), body) for _ in range(10_000)]
    assert sum(is_new for _, is_new in outcomes) == counted.writes == counted.reads == 1
    assert len({size for size, _ in outcomes}) == 1
    # … nor by the next run.
    assert Blobs(counted).put(key_of(body), body) == (outcomes[0][0], False)
    assert counted.writes == 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: b"no zstd at all",
        lambda data: zstandard.ZstdCompressor().compress(b"another body"),
        lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
    ],
    ids=["half", "empty", "garbage", "another", "a bit"],
)
def test_a_damaged_blob_is_never_believed_and_is_written_anew(
    place: Place, damage: Callable[[bytes], bytes]
) -> None:
    body = random.Random(2).randbytes(5_000)
    key = key_of(body)
    Blobs(place).put(key, body)
    name = f"{key[:2]}/{key}.zst"
    whole = place.read(name)
    assert whole is not None
    place.write(name, damage(whole))
    blobs = Blobs(place)
    assert not blobs.has(key)
    with pytest.raises(MissingBody):
        blobs.get(key)
    assert blobs.put(key, body) == (len(whole), True)
    assert Blobs(place).get(key) == body


def test_many_threads_may_write_at_once(place: Place) -> None:
    bodies = [random.Random(number % 50).randbytes(2_000) for number in range(400)]
    blobs = Blobs(place)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda body: blobs.put(key_of(body), body), bodies))
    reader = Blobs(place)
    assert all(reader.get(key_of(body)) == body for body in bodies)


def test_what_was_being_written_when_a_run_was_killed_is_no_blob_and_goes(tmp_path: Path) -> None:
    folder = tmp_path / "bodies"
    place = Folder(folder)
    Blobs(place).put(key_of(b"x"), b"x")
    (folder / "new" / "half").write_bytes(b"half a bo")
    Folder(folder).clear()
    assert [path.name for path in folder.rglob("*") if path.is_file()] == [f"{key_of(b'x')}.zst"]


def test_what_is_remembered_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawlproject.pipelines.blobs._REMEMBERED", 3)
    blobs = Blobs(Folder(tmp_path))
    bodies = [bytes([number]) for number in range(10)]
    for body in bodies:
        blobs.put(key_of(body), body)
    assert [blobs.size(key_of(body)) is not None for body in bodies] == [False] * 7 + [True] * 3
    # Forgotten is not gone.
    assert not any(blobs.put(key_of(body), body)[1] for body in bodies)


@pytest.mark.parametrize("key", ["", "../../etc/passwd", "AB" * 32, "ab" * 31, "ab/" + "c" * 61])
def test_a_key_is_a_hash_and_no_path(tmp_path: Path, key: str) -> None:
    with pytest.raises(MissingBody):
        Blobs(Folder(tmp_path)).get(key)


def test_a_place_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreError, match="Not a directory"):
        Blobs(Folder(tmp_path / "file")).put(key_of(b""), b"")
    with pytest.raises(StoreError, match="Protocol not known: nosuch"):
        Remote("nosuch://bucket/x")


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("/data/bodies", "/data/bodies"),
        ("file:///data/bodies", "/data/bodies"),
        ("bodies", "bodies"),
        ("s3://bucket/x", None),
        ("memory://x", None),
        ("simplecache::s3://bucket/x", None),
    ],
)
def test_which_uri_is_a_local_folder(uri: str, path: str | None) -> None:
    found = local_path(uri)
    assert (None if found is None else str(found)) == path


def test_a_store_is_named_without_its_password() -> None:
    assert store_name(None) is None
    assert store_name("ftp://me:secret@host/x") == "ftp://host/x"


def test_only_the_store_that_the_user_names_is_opened(tmp_path: Path) -> None:
    place = f"memory://{uuid4()}/bodies"
    Blobs(place_of(place, tmp_path)).put(key_of(b"x"), b"x")
    with pytest.raises(MissingBody, match=f"-s STORE_URI={place} reads it"):
        Shelves(tmp_path, None).blobs(place)
    assert Shelves(tmp_path, place).blobs(place).get(key_of(b"x")) == b"x"
    # What is in the crawl directory is found, whatever is set now.
    Blobs(place_of(None, tmp_path)).put(key_of(b"y"), b"y")
    assert Shelves(tmp_path, place).blobs(None).get(key_of(b"y")) == b"y"


def test_a_body_is_unpacked_up_to_what_it_may_have(place: Place) -> None:
    body = bytes(5_000)
    key = key_of(body)
    Blobs(place).put(key, body)
    assert Blobs(place, 5_000).get(key) == Blobs(place, 0).get(key, 5_000) == body
    # A limit of its own, and what its page says.
    with pytest.raises(MissingBody, match="it unpacks to 5,000 bytes, and may have 4,999"):
        Blobs(place, 4_999).get(key)
    with pytest.raises(MissingBody, match="it unpacks to 5,000 bytes, and may have 4,999"):
        Blobs(place).get(key, 4_999)
    with pytest.raises(MissingBody, match="it has 5,000 bytes, more than DOWNLOAD_MAXSIZE=4999"):
        Blobs(place, 4_999).has(key, 5_000)


def test_a_stored_file_is_read_up_to_what_a_body_may_take(place: Place) -> None:
    key = key_of(b"x")
    name = f"{key[:2]}/{key}.zst"
    place.write(name, bytes(1_000_000))
    assert len(place.read(name, 1_000) or b"") == 1_000
    assert len(place.read(name) or b"") == 1_000_000
    assert not Blobs(place).has(key, 1)
