"""Classes, functions and folders that settings name: are they there, and are they what is needed?

What is switched off is not looked at: a crawl does not import what it does not use.
"""

from __future__ import annotations

import errno
import os
import socket
from contextlib import closing, suppress
from importlib import import_module
from itertools import takewhile
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name
from w3lib.url import file_uri_to_path

from crawlproject import settings as ours
from crawlproject.errors import BadArgument
from crawlproject.extras import is_installed
from crawlproject.fetching.tls import check_tls
from crawlproject.frontier.configuration import check_subclass
from crawlproject.spiders.values import yes_or_no

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

_UNUSABLE = (ImportError, NameError, ValueError, TypeError, SyntaxError)
# Settings that name a class, and a method that it must have.
_CLASSES: dict[str, str | None] = {
    "FRONTIER_GATEKEEPER": "verdict",
    "SCHEDULER": "next_request",
    "DUPEFILTER_CLASS": "request_seen",
    "REQUEST_FINGERPRINTER_CLASS": "fingerprint",
    "ROBOTSTXT_PARSER": "allowed",
    "DOWNLOADER": "fetch",
    "ITEM_PROCESSOR": "process_item",
    "LOG_FORMATTER": "crawled",
    "STATS_CLASS": "inc_value",
    "DEFAULT_ITEM_CLASS": None,
}
# With their order.
_COMPONENTS = (
    *("ITEM_PIPELINES", "DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS"),
    *("ITEM_PIPELINES_BASE", "DOWNLOADER_MIDDLEWARES_BASE", "SPIDER_MIDDLEWARES_BASE"),
    *("EXTENSIONS_BASE", "SPIDER_CONTRACTS", "SPIDER_CONTRACTS_BASE"),
)
# By a scheme or a format.
_BY_NAME = ("DOWNLOAD_HANDLERS", "DOWNLOAD_HANDLERS_BASE")
_FEEDS_BY_NAME = (
    *("FEED_EXPORTERS", "FEED_EXPORTERS_BASE", "FEED_STORAGES", "FEED_STORAGES_BASE"),
)
_CACHE = {"HTTPCACHE_POLICY": "should_cache_request", "HTTPCACHE_STORAGE": "retrieve_response"}
# Where media pipelines store, and what a scheme needs.
_MEDIA_STORES = {
    "scrapy.pipelines.images.ImagesPipeline": "IMAGES_STORE",
    "scrapy.pipelines.files.FilesPipeline": "FILES_STORE",
}
_LIBRARIES = {"s3": "botocore", "gs": "google.cloud.storage"}


def check_components(settings: BaseSettings) -> None:
    """Raise BadArgument for what the settings name and a crawl could not use."""
    for name, method in _CLASSES.items():
        load_class(name, settings[name], method)
    check_subclass(settings, "SCHEDULER", "DOWNLOADER")
    for failure in settings.getlist("RETRY_EXCEPTIONS"):
        found = load("RETRY_EXCEPTIONS", failure)
        if not isinstance(found, type) or not issubclass(found, BaseException):
            raise BadArgument("RETRY_EXCEPTIONS", f"{failure!r} is not an exception")
    for name in _COMPONENTS:
        check_ordered(name, settings)
    for name in (*_BY_NAME, *(_FEEDS_BY_NAME if settings["FEEDS"] else ())):
        for path in _of_the_user(name, settings).values():
            if path is not None:
                load_class(name, path)
    if settings["FEED_URI_PARAMS"] is not None:
        load_class("FEED_URI_PARAMS", settings["FEED_URI_PARAMS"])
    _check_cache(settings)
    _check_referrer_policy(settings)
    _check_media_stores(settings)
    _check_network(settings)


def check_ordered(name: str, settings: BaseSettings) -> None:
    """Raise BadArgument for components that can't be loaded, or whose order is no number."""
    values = (_of_the_user if name.endswith("_BASE") else _dictionary)(name, settings)
    for path, order in values.items():
        # Also those that are off: Scrapy loads them to compare.
        load_class(name, path)
        if order is not None and not isinstance(order, Real):
            raise BadArgument(
                name, f"the order of {path!r}, {order!r}, is not a number such as 300 (None: off)"
            )


def load(name: str, path: Any) -> Any:
    """What a setting names. Raises BadArgument."""
    try:
        return load_object(path)
    except _UNUSABLE as error:
        raise BadArgument(name, f"can't load {path!r}: {error}") from None


def load_class(name: str, path: Any, method: str | None = None) -> None:
    """Raise BadArgument for what is no class, or function, or has not that method."""
    found = load(name, path)
    if not callable(found):
        raise BadArgument(name, f"{path!r} is not a class")
    if method is not None and isinstance(found, type) and not hasattr(found, method):
        raise BadArgument(name, f"{path!r} has no method {method}()")


def check_password(settings: BaseSettings) -> None:
    """Raise BadArgument for a password that spiders without seeds would not know where to send."""
    has_password = settings["HTTPAUTH_USER"] or settings["HTTPAUTH_PASS"]
    if has_password and not settings.getpriority("HTTPAUTH_DOMAIN"):
        raise BadArgument(
            "HTTPAUTH_DOMAIN",
            "missing: which host gets HTTPAUTH_USER and HTTPAUTH_PASS? Set it to a domain such as "
            "staging.example, or an origin such as https://staging.example:8443",
        )


def _dictionary(name: str, settings: BaseSettings) -> dict[Any, Any]:
    try:
        return settings.getdict(name)
    except (ValueError, TypeError, AttributeError) as error:
        raise BadArgument(
            name, f'is not a JSON object such as {{"package.Class": 300}}: {error}'
        ) from None


def _of_the_user(name: str, settings: BaseSettings) -> dict[Any, Any]:
    """Without the defaults, Scrapy's and ours."""
    if (settings.getpriority(name) or 0) <= SETTINGS_PRIORITIES["default"]:
        return {}
    default = getattr(ours, name, {})
    values = _dictionary(name, settings)
    return {key: value for key, value in values.items() if default.get(key, "") != value}


def _is_on(name: str, settings: BaseSettings) -> bool:
    return yes_or_no(name, settings[name])


def _check_cache(settings: BaseSettings) -> None:
    if not _is_on("HTTPCACHE_ENABLED", settings):
        return
    for name, method in _CACHE.items():
        load_class(name, settings[name], method)
    module = settings["HTTPCACHE_DBM_MODULE"]
    try:
        import_module(module)
    except ImportError as error:
        raise BadArgument("HTTPCACHE_DBM_MODULE", f"can't load {module!r}: {error}") from None
    if str(settings["HTTPCACHE_STORAGE"]).startswith("scrapy."):
        _check_folder("HTTPCACHE_DIR", settings["HTTPCACHE_DIR"])


def _check_referrer_policy(settings: BaseSettings) -> None:
    if not _is_on("REFERER_ENABLED", settings):
        return
    # Here, because nothing else needs it.
    from scrapy.spidermiddlewares.referer import RefererMiddleware

    for path in _dictionary("REFERRER_POLICIES", settings).values():
        if path is not None:
            load_class("REFERRER_POLICIES", path, "referrer")
    try:
        policy = RefererMiddleware(settings).default_policy
    except KeyError as error:
        raise BadArgument("REFERRER_POLICIES", f"there is no policy {error} to leave out") from None
    except (RuntimeError, AttributeError, *_UNUSABLE):
        policy = None
    if not hasattr(policy, "referrer"):
        raise BadArgument(
            "REFERRER_POLICY",
            f"{settings['REFERRER_POLICY']!r} is not a policy such as same-origin or no-referrer, "
            "nor a class of one",
        )


def _check_media_stores(settings: BaseSettings) -> None:
    for path, order in settings.getdict("ITEM_PIPELINES").items():
        pipeline = load_object(path)
        classes = map(global_object_name, getattr(pipeline, "__mro__", ()))
        name = next((_MEDIA_STORES[one] for one in classes if one in _MEDIA_STORES), None)
        if name is not None and order is not None and settings[name]:
            _check_media_store(name, str(settings[name]), pipeline.STORE_SCHEMES)


def _check_media_store(name: str, uri: str, schemes: Mapping[str, type]) -> None:
    scheme = "" if Path(uri).is_absolute() else urlsplit(uri).scheme
    if scheme not in schemes:
        known = ", ".join(sorted(filter(None, schemes)))
        raise BadArgument(name, f"{uri!r} is not a folder, or a URI of one of {known}")
    if scheme in ("", "file"):
        _check_folder(name, file_uri_to_path(uri) if scheme else uri)
    elif not is_installed(library := _LIBRARIES.get(scheme, "")):
        raise BadArgument(name, f"{uri!r} needs the package {library}, which is not installed")


def _check_network(settings: BaseSettings) -> None:
    check_tls(settings)
    if _is_on("TELNETCONSOLE_ENABLED", settings):
        _check_address("TELNETCONSOLE_HOST", settings["TELNETCONSOLE_HOST"])
    if _is_on("REMOTE_CONTROL_ENABLED", settings) and settings["REMOTE_CONTROL_JOBS_DIR"]:
        _check_folder("REMOTE_CONTROL_JOBS_DIR", settings["REMOTE_CONTROL_JOBS_DIR"])
    if given := settings["DOWNLOAD_BIND_ADDRESS"]:
        # An address, or one with a port.
        address = given[0] if isinstance(given, list | tuple) else given
        _check_address("DOWNLOAD_BIND_ADDRESS", address)


def _check_address(name: str, address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with closing(socket.socket(family)) as one:
            one.bind((address, 0))
    except (OSError, UnicodeError):
        raise BadArgument(
            name, f"{address!r} is not an address of this machine such as 127.0.0.1"
        ) from None


def _check_folder(name: str, folder: str) -> None:
    """Raise BadArgument for a folder that is not there and can't be made, or can't be written."""
    path = Path(folder).absolute()
    missing = [*takewhile(lambda one: not one.exists(), (path, *path.parents))]
    try:
        path.mkdir(parents=True, exist_ok=True)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise BadArgument(name, f"can't write {folder!r}: {error.strerror}") from None
    finally:
        # Whoever needs it makes it.
        for one in missing:
            with suppress(OSError):
                one.rmdir()
