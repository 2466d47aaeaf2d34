"""The options of one output in FEEDS: are they what Scrapy documents, and can they be used?"""

from __future__ import annotations

from difflib import get_close_matches
from io import BytesIO
from typing import TYPE_CHECKING, Any

from scrapy.settings import default_settings
from scrapy.utils.misc import load_object

from crawlproject.errors import BadOutput
from crawlproject.exports.base import PageExporter
from crawlproject.exports.formats import format_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

_KNOWN = (
    *("format", "batch_item_count", "encoding", "fields", "item_classes", "item_filter", "indent"),
    *("item_export_kwargs", "overwrite", "store_empty", "uri_params", "postprocessing"),
)
# What Scrapy gives to exporters by options of the feed.
_OPTIONS_OF_FEEDS = {"encoding": "encoding", "fields_to_export": "fields", "indent": "indent"}
_BATCHES = ("%(batch_id)", "%(batch_time)s")


def check_options(uri: str, options: Mapping[str, Any], settings: BaseSettings) -> None:
    """Raise BadOutput for what Scrapy would ignore, or stumble over in the middle of a crawl."""
    problem = _problem(uri, options, settings)
    if problem is not None:
        raise BadOutput(f"can't write {uri!r}: {problem}")


def _problem(uri: str, options: Mapping[str, Any], settings: BaseSettings) -> str | None:
    for name in options:
        # An option that resembles none may belong to a plugin or a storage of the user's own.
        nearest = get_close_matches(name, _KNOWN, n=1, cutoff=0.8) if name not in _KNOWN else []
        if nearest:
            return f"unknown option {name!r}; did you mean {nearest[0]!r}?"
    if problem := _of_batches(uri, options, settings):
        return problem
    for name in ("item_filter", "uri_params", "item_classes", "postprocessing"):
        given = options.get(name) or []
        for path in given if isinstance(given, list | tuple) else [given]:
            if problem := _of_loading(name, path):
                return problem
    fields = options.get("fields")
    if fields is not None and not isinstance(fields, list | tuple | dict):
        return f"fields: {fields!r} is not a list of names, or an object of names"
    return _of_exporter(uri, options, settings)


def _of_batches(uri: str, options: Mapping[str, Any], settings: BaseSettings) -> str | None:
    given = options.get("batch_item_count", settings["FEED_EXPORT_BATCH_ITEM_COUNT"])
    try:
        count = int(given or 0)
    except (TypeError, ValueError):
        count = -1
    if count < 0:
        return f"batch_item_count: {given!r} is not a whole number of 0 or more"
    if count and not any(name in uri for name in _BATCHES):
        return (
            "each batch is a file of its own: put %(batch_id)d or %(batch_time)s into the name, as "
            "in pages-%(batch_id)d.json"
        )
    return None


def _of_loading(name: str, path: Any) -> str | None:
    try:
        load_object(path)
    except (ImportError, NameError, ValueError, TypeError) as error:
        return f"{name}: can't load {path!r}: {error}"
    return None


def _of_exporter(uri: str, options: Mapping[str, Any], settings: BaseSettings) -> str | None:
    given = options.get("item_export_kwargs")
    if not given:
        return None
    if not isinstance(given, dict):
        return f"item_export_kwargs: {given!r} is not an object of names and values"
    for name in given:
        if option := _OPTIONS_OF_FEEDS.get(name):
            return f"item_export_kwargs: give {name} as the option {option!r} of the output"
    format_ = format_of(uri, options)
    exporter = load_object(settings.getwithbase("FEED_EXPORTERS")[format_])
    is_ours = isinstance(exporter, type) and issubclass(exporter, PageExporter)
    if is_ours and (problem := _of_pages(exporter, format_, given)):
        return f"item_export_kwargs: {problem}"
    try:
        exporter(BytesIO(), **given)
    except (TypeError, LookupError) as error:
        return f"item_export_kwargs: {error}"
    return None


def _of_pages(exporter: type, format_: str, given: Mapping[str, Any]) -> str | None:
    """What Scrapy's exporter of the same format takes, and ours does not."""
    path = default_settings.FEED_EXPORTERS_BASE.get(format_)
    if path is None or load_object(path) is exporter:
        return None
    for name, value in given.items():
        if not _takes(exporter, {name: value}) and _takes(load_object(path), {name: value}):
            return (
                f"{name!r} is an option of Scrapy's exporter: to have that one, set FEED_EXPORTERS "
                f"to {{{format_!r}: {path!r}}}"
            )
    return None


def _takes(exporter: type, options: Mapping[str, Any]) -> bool:
    if "export_empty_fields" in options and issubclass(exporter, PageExporter):
        # Known to the class of all exporters, and of no effect.
        return False
    try:
        exporter(BytesIO(), **options)
    except (TypeError, LookupError):
        return False
    return True
