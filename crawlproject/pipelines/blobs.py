"""Bodies by the hash of their content: compressed (zstd), one copy of each, believed only if whole.

However small a stored body is, it is unpacked up to a bound only: what its page says that it has,
and DOWNLOAD_MAXSIZE, as when it was fetched.

Where they go is a *place*: something that reads and writes bytes by name. A local folder
is one; ``remote.py`` makes one of whatever fsspec opens.

A body is ``ab/abcd….zst``, named by its SHA-256 in hex. What is read is compared with its name,
so a file that is cut off or damaged is never taken for a body, and is written anew by whoever
has the body next.
"""

from __future__ import annotations

import hashlib
import re
import sys
import threading
from contextlib import suppress
from itertools import count
from secrets import token_hex
from typing import TYPE_CHECKING, Protocol

import zstandard

from crawlproject.compressed import TooLarge, unzstd
from crawlproject.private_files import create_new, make_private, mode_of

if TYPE_CHECKING:
    from pathlib import Path

# Of the crawl directory: where bodies are, unless STORE_URI says otherwise.
FOLDER = "bodies"
# Of that folder: what is being written.
_NEW = "new"
# Beyond this zstd costs more time than it saves space: three times as much for a tenth.
_LEVEL = 3
# Bodies whose presence is remembered, so that the same footer page is not looked up again.
_REMEMBERED = 50_000

# Bytes of a body, as DOWNLOAD_MAXSIZE has it by default.
MAX_BYTES = 32 * 1024 * 1024

_is_key = re.compile(r"[0-9a-f]{64}").fullmatch


class StoreError(OSError):
    """The place can't be read or written; ``strerror`` says why, in one line."""

    def __init__(self, problem: object) -> None:
        if isinstance(problem, OSError) and problem.strerror:
            problem = problem.strerror
        super().__init__(" ".join(str(problem).split()) or type(problem).__name__)
        self.strerror = str(self)


class MissingBody(LookupError):
    """The body is not there, or what is there is not the body."""


class Place(Protocol):
    """What a store of bodies needs. Called from several threads at once; raises StoreError."""

    # For messages.
    name: str
    # Whether a call may take long: then it is made in a thread.
    is_slow: bool

    def read(self, name: str, most_bytes: int | None = None) -> bytes | None:
        """What was written under a name, or the first ``most_bytes`` of it; None: nothing was."""

    def write(self, name: str, data: bytes) -> None:
        """Write all of it, or nothing, as far as the place can promise that."""


class Folder:
    """A local folder. A file gets its name when it is complete."""

    is_slow = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self._new = path / _NEW
        self.name = str(path)
        # Other crawls, of other machines too, may write to the same folder.
        self._numbers = count()
        self._writer = token_hex(8)
        # Folders that are known to be there, by their part of a name.
        self._made: set[str] = set()
        self._mode = 0o700

    def clear(self) -> None:
        """Remove what was being written when an earlier run was killed. Nobody else may write."""
        with suppress(OSError):
            for path in self._new.iterdir():
                path.unlink()

    def read(self, name: str, most_bytes: int | None = None) -> bytes | None:
        try:
            with (self._path / name).open("rb") as file:
                return file.read(-1 if most_bytes is None else most_bytes)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(error) from None

    def write(self, name: str, data: bytes) -> None:
        path = self._path / name
        draft = self._new / f"{self._writer}-{next(self._numbers)}"
        folder = name.rpartition("/")[0]
        try:
            if folder not in self._made:
                make_private(self._path)
                # A folder that a user shares with others stays so, with what is in it.
                self._mode = mode_of(self._path, 0o700)
                for place in (self._new, path.parent):
                    place.mkdir(mode=self._mode, exist_ok=True)
                self._made.add(folder)
            try:
                with create_new(draft, mode=self._mode & 0o666) as file:
                    file.write(data)
                draft.replace(path)
            except OSError:
                # Somebody may have tidied up: the next body finds that out.
                self._made.clear()
                with suppress(OSError):
                    draft.unlink()
                raise
        except OSError as error:
            raise StoreError(error) from None


class Blobs:
    """Bodies in a place, by key: the SHA-256 of each, in hex.

    None of more than ``most_bytes`` is read (0: no limit).
    """

    def __init__(self, place: Place, most_bytes: int = MAX_BYTES) -> None:
        self.place = place
        self._most_bytes = most_bytes or sys.maxsize
        # Keys that are known to be there and whole, and how many bytes each takes.
        self._sizes: dict[str, int] = {}
        # zstd's objects are not to be shared between threads.
        self._own = threading.local()

    def size(self, key: str) -> int | None:
        """How many bytes a body takes, if it is known without a look at the place."""
        return self._sizes.get(key)

    def has(self, key: str, size: int | None = None) -> bool:
        """Whether the body is there, and whole. Raises MissingBody if it is too large."""
        return self.size(key) is not None or self._sought(key, size) is not None

    def put(self, key: str, body: bytes) -> tuple[int, bool]:
        """Keep a body, if it is not there: how many bytes it takes, and whether it is new."""
        if (size := self.size(key)) is not None:
            return size, False
        # One that would be larger is not this one.
        with suppress(TooLarge):
            if (found := self._find(key, len(body))) is not None:
                return found[1], False
        data = self._compressor.compress(body)
        self.place.write(_name(key), data)
        self._remember(key, len(data))
        return len(data), True

    def get(self, key: str, size: int | None = None) -> bytes:
        """A body of ``size`` bytes, if that is known. Raises MissingBody, and StoreError where the
        place can't be read.
        """
        found = self._sought(key, size)
        if found is None:
            raise MissingBody(f"{self.place.name} has no whole body {key}")
        return found[0]

    def _sought(self, key: str, size: int | None) -> tuple[bytes, int] | None:
        try:
            return self._find(key, self._bound(size))
        except TooLarge as error:
            raise MissingBody(f"{self.place.name} has {key}, but {error}") from None

    def _bound(self, size: int | None) -> int:
        """Bytes that a body may unpack to. Raises TooLarge."""
        if size is None:
            return self._most_bytes
        if size > self._most_bytes:
            raise TooLarge(f"it has {size:,} bytes, more than DOWNLOAD_MAXSIZE={self._most_bytes}")
        return size

    def _find(self, key: str, most_bytes: int) -> tuple[bytes, int] | None:
        """A body, and how many bytes it takes. Raises TooLarge."""
        # What is incompressible becomes a little longer.
        most_stored = most_bytes + most_bytes // 128 + 65_536
        data = self.place.read(_name(key), min(most_stored, sys.maxsize))
        if data is None:
            return None
        try:
            body = unzstd(data, most_bytes, self._decompressor)
        except TooLarge:
            raise
        except ValueError:
            return None
        if hashlib.sha256(body).hexdigest() != key:
            return None
        self._remember(key, len(data))
        return body, len(data)

    def _remember(self, key: str, size: int) -> None:
        if len(self._sizes) >= _REMEMBERED:
            # Another thread may be doing the same.
            self._sizes.pop(next(iter(self._sizes), ""), None)
        self._sizes[key] = size

    @property
    def _compressor(self) -> zstandard.ZstdCompressor:
        if not hasattr(self._own, "compressor"):
            self._own.compressor = zstandard.ZstdCompressor(level=_LEVEL)
        return self._own.compressor  # type: ignore[no-any-return]

    @property
    def _decompressor(self) -> zstandard.ZstdDecompressor:
        if not hasattr(self._own, "decompressor"):
            self._own.decompressor = zstandard.ZstdDecompressor()
        return self._own.decompressor  # type: ignore[no-any-return]


def _name(key: str) -> str:
    # It may come from a crawl directory that somebody else has made.
    if not _is_key(key):
        raise MissingBody(f"{key!r} is not the hash of a body")
    return f"{key[:2]}/{key}.zst"
