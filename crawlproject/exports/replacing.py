"""A file of a command, which takes the place of the old one when it is complete."""

from __future__ import annotations

from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from crawlproject.errors import BadOutput
from crawlproject.exports.storage import partial_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def replaced(path: Path) -> Iterator[IO[bytes]]:
    """The file, to be written. Raises BadOutput when it can't be."""
    # A link stays a link, and a device or a pipe is no file to be replaced.
    path = path.resolve()
    is_special = path.exists() and not path.is_file()
    draft = path if is_special else partial_of(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = draft.open("wb")
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
