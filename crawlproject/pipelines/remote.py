"""A place for bodies that fsspec opens: a bucket, another machine, memory.

fsspec is an extra (``requirements-remote.txt``), and most of what it opens needs a package of
its own (``s3://``: s3fs). Writes need not be atomic: what is read back is compared with its hash.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from crawlproject.extras import how_to_install
from crawlproject.pipelines.blobs import StoreError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_LOGIN = re.compile(r"//[^/?#]*@")


class Remote:
    """Raises StoreError if the URI can't be opened."""

    # A call may wait for the network.
    is_slow = True

    def __init__(self, uri: str) -> None:
        self.name = without_password(uri)
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise StoreError(f"fsspec is not installed: {how_to_install('remote')}") from None
        try:
            files, root = url_to_fs(uri)
        except ImportError as error:
            raise StoreError(error) from None
        except Exception as error:
            _fail(error)
        self._files: AbstractFileSystem = files
        self._root = str(root).rstrip("/")
        self._made: set[str] = set()

    def read(self, name: str, most_bytes: int | None = None) -> bytes | None:
        path = self._path(name)
        try:
            if most_bytes is not None:
                # Some file systems don't know sizes.
                size = self._files.size(path)
                if size is None or size > most_bytes:
                    return bytes(self._files.cat_file(path, 0, most_bytes))
            return bytes(self._files.cat_file(path))
        except FileNotFoundError:
            return None
        except Exception as error:
            _fail(error)

    def write(self, name: str, data: bytes) -> None:
        path = self._path(name)
        folder = path.rpartition("/")[0]
        try:
            if folder not in self._made:
                self._files.makedirs(folder, exist_ok=True)
                self._made.add(folder)
            self._files.pipe_file(path, data)
        except Exception as error:
            self._made.discard(folder)
            _fail(error)

    def check(self) -> None:
        """Raise StoreError if nothing can be written here."""
        self.write("probe", b"")
        # Write access may not include deletion.
        with suppress(Exception):
            self._files.rm_file(self._path("probe"))

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"


def without_password(uri: str) -> str:
    """A URI as it may be shown."""
    return _LOGIN.sub("//", uri)


def _fail(error: Exception) -> NoReturn:
    """Each kind of file system raises its own exceptions."""
    raise StoreError(error) from error
