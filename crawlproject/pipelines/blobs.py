"""Bodies by the hash of their content: compressed (zstd), one copy of each, verified when read.

A body is decompressed up to a bound only: the size recorded with its page, and DOWNLOAD_MAXSIZE.

Bodies are written to a *place*, which reads and writes bytes by name: a local folder, or
what fsspec opens (``remote.py``).

A body is ``ab/abcd….zst``, named by its SHA-256 in hex. What is read is compared with its name, so
a truncated or damaged file is never taken for a body. It is replaced when the same body is
stored again.
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

# Subfolder of the crawl directory, unless STORE_URI is set.
FOLDER = "bodies"
# Subfolder of that one: files that are being written.
_NEW = "new"
# Higher levels take three times as long to save another tenth.
_LEVEL = 3
# Bodies whose presence is cached.
_REMEMBERED = 50_000

# Default of DOWNLOAD_MAXSIZE.
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
    """Storage of bodies. Called from several threads at once; raises StoreError."""

    # Shown in messages.
    name: str
    # Whether a call may block: then it runs in a thread.
    is_slow: bool

    def read(self, name: str, most_bytes: int | None = None) -> bytes | None:
        """The bytes of a name, or the first ``most_bytes`` of them. None: there is no such name."""

    def write(self, name: str, data: bytes) -> None:
        """Write all bytes or none, if the storage can guarantee that."""


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
        """Remove partial files of killed runs. No other process may write at the same time."""
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
                # Keep the permissions of a folder that a user shares with others.
                self._mode = mode_of(self._path, 0o700)
                for place in (self._new, path.parent):
                    place.mkdir(mode=self._mode, exist_ok=True)
                self._made.add(folder)
            try:
                with create_new(draft, mode=self._mode & 0o666) as file:
                    file.write(data)
                draft.replace(path)
            except OSError:
                # The folder may have been deleted: the next body creates it again.
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
        # zstd's objects are not thread-safe.
        self._own = threading.local()

    def size(self, key: str) -> int | None:
        """The stored size of a body, if it is cached."""
        return self._sizes.get(key)

    def has(self, key: str, size: int | None = None) -> bool:
        """Whether the body is there, and whole. Raises MissingBody if it is too large."""
        return self.size(key) is not None or self._sought(key, size) is not None

    def put(self, key: str, body: bytes) -> tuple[int, bool]:
        """Store a body, if it is new. Returns its stored size and whether it was new."""
        if (size := self.size(key)) is not None:
            return size, False
        # A larger one is damaged.
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
        # Incompressible data becomes a little longer.
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
    # The key may come from an untrusted crawl directory.
    if not _is_key(key):
        raise MissingBody(f"{key!r} is not the hash of a body")
    return f"{key[:2]}/{key}.zst"
