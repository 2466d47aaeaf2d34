"""What a feed's file can do, which differs by its storage.

A local file is a real file, opened to write (``-O``) or to append (``-o``). S3, GCS and
FTP give a temporary file, standard output a stream, and post-processing (gzip) a wrapper.
"""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path
from typing import IO

_STANDARD_STREAMS = (0, 1, 2)


def start_over(file: IO[bytes]) -> None:
    """Drop what the file holds, where that is possible.

    Two documents in one file are none. Standard output is left alone: redirected to a
    file it could be emptied too, but what is in there is not ours.
    """
    if _is_standard_stream(file):
        return
    # OSError: pipes and wrappers. AttributeError: a storage's own kind of file.
    with suppress(OSError, AttributeError):
        if file.seekable():
            file.seek(0)
            file.truncate()


def local_path(file: IO[bytes]) -> Path | None:
    """Where the file stays under its own name; None for streams and temporary files."""
    # Scrapy's temporary files have a name as well, but are wrapped in another type.
    if not isinstance(file, io.BufferedWriter | io.BufferedRandom | io.FileIO):
        return None
    name = getattr(file, "name", None)
    if not isinstance(name, str) or _is_standard_stream(file):
        return None
    path = Path(name)
    return path if path.is_file() else None


def ends_in_mid_line(path: Path) -> bool:
    """Whether the file's last line lacks its end, as after a crash."""
    with path.open("rb") as file:
        if not file.seek(0, io.SEEK_END):
            return False
        file.seek(-1, io.SEEK_END)
        return file.read(1) != b"\n"


def _is_standard_stream(file: IO[bytes]) -> bool:
    try:
        return file.fileno() in _STANDARD_STREAMS
    except (OSError, AttributeError):
        return False
