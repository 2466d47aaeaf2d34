"""Whether the output files can be written, found out before the first request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

from w3lib.url import file_uri_to_path

from crawlproject.errors import BadOutput

if TYPE_CHECKING:
    from collections.abc import Mapping


def check_outputs(feeds: Mapping[Any, Any]) -> None:
    """Raise BadOutput for the first local file that can't be written."""
    for uri in feeds:
        path = local_path(str(uri))
        # The name of a batch or of a job is known only later.
        if path is not None and "%(" not in str(uri):
            _try(path)


def local_path(uri: str) -> Path | None:
    scheme = urlparse(uri).scheme
    if scheme == "file":
        return Path(file_uri_to_path(uri))
    return Path(uri) if not scheme or len(scheme) == 1 else None


def _try(path: Path) -> None:
    is_new = not path.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            pass
        if is_new:
            path.unlink()
    except OSError as error:
        raise BadOutput(f"can't write {str(path)!r}: {error.strerror}") from None
