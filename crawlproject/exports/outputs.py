"""Whether the output files can be written, found out before the first request."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

from scrapy.exceptions import NotConfigured
from scrapy.extensions.feedexport import BlockingFeedStorage, GCSFeedStorage
from scrapy.utils.misc import build_from_crawler, load_object
from w3lib.url import file_uri_to_path

from crawlproject.errors import BadArgument, BadOutput
from crawlproject.exports.formats import format_of
from crawlproject.exports.options import check_options
from crawlproject.exports.storage import LINES
from crawlproject.extras import is_installed
from crawlproject.private_files import target_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler


def check_outputs(feeds: Mapping[Any, Any], crawler: Crawler) -> None:
    """Raise BadInput for the first output that can't be written as it is asked for."""
    settings = crawler.settings
    storages = settings.getwithbase("FEED_STORAGES")
    formats = settings.getwithbase("FEED_EXPORTERS")
    for uri, options in feeds.items():
        if isinstance(options, dict):
            _check_format(str(uri), options, formats)
            check_options(str(uri), options, settings)
        path = local_path(str(uri))
        if path is None:
            _check_storage(str(uri), storages, crawler, options)
        # The name of a batch or of a job is known only later.
        elif "%(" not in str(uri):
            _try(path)


def check_appended(uri: str) -> None:
    """Raise BadOutput for a document that is there: only lines can be appended to."""
    name, _, format_ = uri.rpartition(":")
    path = local_path(name if name and "/" not in format_ else uri)
    if path is None or not path.is_file() or not path.stat().st_size:
        return
    if (format_ if name else path.suffix[1:]).lower() not in LINES:
        raise BadOutput(
            f"{str(path)!r} exists, and nothing can be appended to such a file: "
            f"-O {path} replaces it (-o appends to .jsonl)"
        )


def _check_format(uri: str, options: dict[str, Any], formats: Mapping[str, Any]) -> None:
    known = ", ".join(sorted(name for name in formats if formats[name]))
    if "format" in options:
        format_, whose = options["format"], "its format"
    else:
        format_, whose = format_of(uri, options), "its extension"
    exporter = formats.get(str(format_))
    if not exporter:
        raise BadOutput(f"can't write {uri!r}: {whose} {format_!r} is not one of {known}")
    # What only the format itself knows: a package that it needs, an option that it has not.
    find_problem = getattr(load_object(exporter), "problem", None)
    if find_problem is not None and (problem := find_problem(options)):
        raise BadOutput(f"can't write {uri!r}: {problem}")
    if encoding := options.get("encoding"):
        try:
            codecs.lookup(str(encoding))
        except LookupError:
            raise BadOutput(
                f"can't write {uri!r}: {encoding!r} is not an encoding such as utf-8"
            ) from None


def _check_storage(
    uri: str, storages: Mapping[str, Any], crawler: Crawler, options: dict[str, Any]
) -> None:
    scheme = urlparse(uri).scheme
    if not storages.get(scheme):
        known = ", ".join(sorted(name for name in storages if name and storages[name]))
        raise BadOutput(f"can't write {uri!r}: {scheme}: is not a file or one of {known}")
    try:
        storage = build_from_crawler(
            load_object(storages[scheme]), crawler, uri, feed_options=options
        )
    except (NotConfigured, ValueError, ImportError) as error:
        raise BadOutput(f"can't write {uri!r}: {error}") from None
    except AssertionError:
        raise BadOutput(f"can't write {uri!r}: it names no bucket") from None
    if isinstance(storage, GCSFeedStorage) and not is_installed("google.cloud.storage"):
        raise BadOutput(f"can't write {uri!r}: missing google-cloud-storage library")
    if isinstance(storage, BlockingFeedStorage):
        _check_temporary(crawler.settings["FEED_TEMPDIR"])


def _check_temporary(folder: str | None) -> None:
    """What is stored elsewhere is written there first."""
    if folder and not Path(folder).is_dir():
        raise BadArgument("FEED_TEMPDIR", f"{folder!r} is not a folder that is there")


def local_path(uri: str) -> Path | None:
    scheme = urlparse(uri).scheme
    if scheme == "file":
        return Path(file_uri_to_path(uri))
    return Path(uri) if not scheme or len(scheme) == 1 else None


def _try(path: Path) -> None:
    is_new = not path.exists()
    try:
        path = target_of(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            pass
        if is_new:
            path.unlink()
    except FileExistsError:
        raise BadOutput(f"can't write {str(path)!r}: {path.parent} is not a folder") from None
    except OSError as error:
        raise BadOutput(f"can't write {str(path)!r}: {error.strerror}") from None
