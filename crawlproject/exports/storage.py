"""Local files that are replaced at the end, all at once.

A document that is written when the crawl ends must not cost the one of yesterday when it
does not get there. So it is written beside it, as ``.NAME.partial``, and takes its place
when it is complete. Lines (.jsonl) go to the file itself, where they can be watched.

An output is the user's: it has the rights of the file that it replaces, or those of the umask.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from scrapy.extensions.feedexport import FileFeedStorage

from crawlproject.errors import BadOutput
from crawlproject.private_files import create_new, mode_of, target_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Spider

LINES = frozenset({"jsonl", "jsonlines", "jl"})
_BUFFER_BYTES = 256 * 1024
_PARTIAL = ".partial"
# But for what the umask takes away.
_MODE = 0o666


def partial_of(path: Path) -> Path:
    return path.with_name(f".{path.name}{_PARTIAL}")


def final_of(path: Path) -> Path:
    """Where a partial file will be in the end; any other path itself."""
    if path.name.startswith(".") and path.name.endswith(_PARTIAL):
        return path.with_name(path.name[1 : -len(_PARTIAL)])
    return path


@contextmanager
def replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file to write, which takes the place of the old one when it is complete. Raises BadOutput
    where none can be made.
    """
    # A link stays a link, and a device or a pipe is no file to be replaced.
    path = target_of(path)
    is_special = path.exists() and not path.is_file()
    draft = path if is_special else partial_of(path)
    mode = mode_of(path, _MODE)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = draft.open("wb") if is_special else create_new(draft, mode=mode)
    except OSError as error:
        raise BadOutput(f"can't write {str(path)!r}: {error.strerror}") from None
    try:
        with file:
            yield file
    except BaseException:
        if not is_special:
            draft.unlink(missing_ok=True)
        raise
    if not is_special:
        draft.replace(path)


class ReplacingFileStorage(FileFeedStorage):
    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        super().__init__(uri, feed_options=feed_options)
        self._replaces = (feed_options or {}).get("format") not in LINES
        self._partial: Path | None = None

    def open(self, spider: Spider) -> IO[bytes]:
        # A link stays a link.
        path = target_of(Path(self.path))
        is_special = path.exists() and not path.is_file()
        if not self._replaces or is_special:
            return super().open(spider)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            mode = mode_of(path, _MODE)
            file = create_new(partial_of(path), mode=mode, buffering=_BUFFER_BYTES)
        except PermissionError:
            # The folder is not ours, but the file may be.
            return super().open(spider)
        self._partial = Path(file.name)
        return file

    def store(self, file: IO[bytes]) -> None:
        super().store(file)
        if self._partial is not None:
            path = final_of(self._partial)
            with suppress(FileNotFoundError):
                shutil.copymode(path, self._partial)
            self._partial.replace(path)
            self._partial = None

    def discard(self) -> None:
        """Leave no partial file of an output that failed."""
        if self._partial is not None:
            self._partial.unlink(missing_ok=True)
