"""Where bodies are stored, by STORE_URI and the crawl directory."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.settings import SETTINGS_PRIORITIES
from w3lib.url import file_uri_to_path

from crawlproject.errors import BadArgument
from crawlproject.frontier.redis.address import is_shared
from crawlproject.pipelines.blobs import FOLDER, MAX_BYTES, Blobs, Folder, MissingBody
from crawlproject.pipelines.remote import Remote, without_password
from crawlproject.private_files import make_private

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from crawlproject.pipelines.blobs import Place


# Workers may be on different machines, and remove their temporary folders when they end.
SHARED_STORE = "the workers of a shared crawl keep bodies in one place, with -s STORE_URI=…"


def place_of(uri: str | None, folder: Path | None) -> Place:
    """The place that a STORE_URI names; without one, in a crawl directory. Raises StoreError."""
    if uri is None:
        assert folder is not None
        return Folder(folder / FOLDER)
    path = local_path(uri)
    return Remote(uri) if path is None else Folder(path)


def local_path(uri: str) -> Path | None:
    """The local folder that a STORE_URI names."""
    scheme = urlsplit(uri).scheme
    if scheme == "file":
        return Path(file_uri_to_path(uri))
    # A single letter is a Windows drive.
    return Path(uri) if len(scheme) <= 1 and "::" not in uri else None


def store_name(uri: str | None) -> str | None:
    """The name of a store, as recorded with its pages. None: the crawl directory's own, which may
    be moved.
    """
    if uri is None:
        return None
    path = local_path(uri)
    return without_password(uri) if path is None else str(path.absolute())


def check_store(settings: BaseSettings) -> None:
    """Raise BadArgument for a STORE_URI where nothing can be stored, before the first request."""
    uri = settings["STORE_URI"]
    try:
        is_wanted = settings.getbool("STORE_BODIES")
    except ValueError:
        given = settings["STORE_BODIES"]
        raise BadArgument("STORE_BODIES", f"{given!r} is not True or False") from None
    if uri is None:
        if is_wanted and is_shared(settings):
            raise BadArgument("STORE_URI", f"missing: {SHARED_STORE}")
        return
    if not is_wanted:
        # In settings.py it is a default for crawls with STORE_BODIES; on the command line it is a
        # mistake.
        if (settings.getpriority("STORE_URI") or 0) >= SETTINGS_PRIORITIES["cmdline"]:
            raise BadArgument("STORE_URI", "nothing is stored there without -s STORE_BODIES=True")
        return
    path = local_path(uri)
    try:
        if path is None:
            Remote(uri).check()
        else:
            make_private(path)
            with tempfile.TemporaryFile(dir=path):
                pass
    except OSError as error:
        raise BadArgument("STORE_URI", f"can't store in {uri!r}: {error.strerror}") from None


class Shelves:
    """Reads the bodies of a crawl, whose runs may have used several stores.

    The store of a body is recorded with its page. Besides the crawl directory's own, only the store
    that the user names is opened: a crawl directory may come from anywhere. A shared crawl has no
    folder (None). No body of more than ``most_bytes`` is read (0: no limit).
    """

    def __init__(self, folder: Path | None, uri: str | None, most_bytes: int = MAX_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._uri = uri
        self._opened: dict[str | None, Blobs] = {}

    def blobs(self, store: str | None) -> Blobs:
        """Raises MissingBody for a store that is not to be opened, StoreError for one that can't
        be.
        """
        if store is not None and store != store_name(self._uri):
            raise MissingBody(f"it is in {store}: -s STORE_URI={store} reads it")
        if store is None and self._folder is None:
            raise MissingBody(f"it was kept where its worker ran: {SHARED_STORE}")
        if store not in self._opened:
            place = place_of(store and self._uri, self._folder)
            self._opened[store] = Blobs(place, self._most_bytes)
        return self._opened[store]
