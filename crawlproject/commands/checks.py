"""What can be wrong with a command line, found before the crawl is set up."""

from __future__ import annotations

import json
import re
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import default_settings
from scrapy.utils.misc import load_object
from scrapy.utils.versions import get_versions

from crawlproject import settings as project
from crawlproject.errors import BadArgument, BadInput
from crawlproject.private_files import create_private, target_of
from crawlproject.redaction import HIDDEN, may_hold_secret
from crawlproject.spiders.arguments import ARGUMENTS
from crawlproject.spiders.refused import REFUSED
from crawlproject.spiders.values import encoding, yes_or_no

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy.settings import BaseSettings

_CLASSES = (
    "FRONTIER_GATEKEEPER",
    "SCHEDULER",
    "DUPEFILTER_CLASS",
    "REQUEST_FINGERPRINTER_CLASS",
    "ROBOTSTXT_PARSER",
    "DOWNLOADER",
    "ITEM_PROCESSOR",
    "LOG_FORMATTER",
    "STATS_CLASS",
)
# Those have words of their own.
_OBJECTS_CHECKED_LATER = ("POLITENESS_HOSTS",)
# Scrapy needs these before it is said which spider is to run.
_EARLY_CLASSES = ("TWISTED_REACTOR", "ASYNCIO_EVENT_LOOP", "SPIDER_LOADER_CLASS")
_EARLY_SWITCHES = (
    *("LOG_ENABLED", "LOG_COLOR", "LOG_FILE_APPEND", "LOG_INSTALL_ROOT_HANDLER"),
    *("LOG_SHORT_NAMES", "LOG_STDOUT"),
    *("FORCE_CRAWLER_PROCESS", "SPIDER_LOADER_WARN_ONLY", "TWISTED_REACTOR_ENABLED"),
)
_CLASS_DICTIONARIES = (
    "ITEM_PIPELINES",
    "DOWNLOADER_MIDDLEWARES",
    "SPIDER_MIDDLEWARES",
    "EXTENSIONS",
)


def check_options(rest: Sequence[str]) -> None:
    """Raise BadInput for what no option took: typos, and arguments without their -a."""
    for part in rest:
        written = re.match(r"-*(\w+)", part)
        name = written[1] if written else part
        nearest = get_close_matches(name.replace("-", "_"), ARGUMENTS, n=1)
        hint = f"; did you mean -a {nearest[0]}=…?" if nearest else "; --help lists the options"
        kind = "option" if part.startswith("-") else "argument"
        raise BadInput(f"unknown {kind} {part!r}{hint}")


def check_settings(given: Sequence[str]) -> None:
    """Raise BadInput for ``-s`` with a name that is almost, but not quite, a setting, and for
    what is no object where there must be one.

    A name that resembles none may belong to a team's own component.
    """
    defaults = {**REFUSED, **vars(default_settings), **vars(project)}
    known = {name for name in defaults if name.isupper()}
    for pair in given:
        name, _, value = pair.partition("=")
        name = name.strip()
        if name in known:
            if isinstance(defaults[name], dict) and name not in _OBJECTS_CHECKED_LATER:
                _check_object(name, value)
            continue
        nearest = get_close_matches(name.upper(), known, n=1, cutoff=0.8)
        if nearest:
            raise BadInput(f"unknown setting {name!r}; did you mean -s {nearest[0]}=…?")


def _check_object(name: str, value: str) -> None:
    try:
        written = json.loads(value)
    except (ValueError, RecursionError):
        written = None
    if not isinstance(written, dict):
        example = '{"pages.json": {"format": "json"}}' if name == "FEEDS" else '{"name": 300}'
        shown = HIDDEN if may_hold_secret(value) else repr(value[:50])
        raise BadArgument(name, f"{shown} is not a JSON object such as {example}")
    if name == "FEEDS":
        for uri, options in written.items():
            if not isinstance(options, dict):
                raise BadArgument(name, f"{uri!r} has {options!r}, not options in an object")


def check_set_up(settings: BaseSettings) -> None:
    """Raise BadArgument for what Scrapy would stumble over before any spider is there."""
    for name in _EARLY_CLASSES:
        _load(name, settings[name])
    for name in settings.getlist("SPIDER_MODULES"):
        try:
            import_module(name)
        except ImportError as error:
            raise BadArgument("SPIDER_MODULES", f"can't load {name!r}: {error}") from None
    encoding("LOG_ENCODING", settings["LOG_ENCODING"])
    # Not every version of Scrapy has all of them.
    for name in filter(settings.__contains__, _EARLY_SWITCHES):
        settings.set(name, yes_or_no(name, settings[name]), settings.getpriority(name) or 0)
    if settings.getpriority("LOG_VERSIONS"):
        try:
            get_versions(settings.getlist("LOG_VERSIONS"))
        except PackageNotFoundError as error:
            raise BadArgument("LOG_VERSIONS", f"{error.name!r} is not installed") from None
    if file := settings["LOG_FILE"]:
        try:
            # Scrapy's log goes on in it.
            create_private(target_of(Path(file)))
            with Path(file).open("ab"):
                pass
        except OSError as error:
            raise BadArgument("LOG_FILE", f"can't write {file!r}: {error.strerror}") from None


def check_components(settings: BaseSettings) -> None:
    """Raise BadArgument for a class in the settings that can't be loaded."""
    for name, path in _components(settings):
        _load(name, path)
    for failure in settings.getlist("RETRY_EXCEPTIONS"):
        _load("RETRY_EXCEPTIONS", failure)


def _load(name: str, path: object) -> None:
    if not isinstance(path, str):
        return
    try:
        load_object(path)
    except (ImportError, NameError, ValueError) as error:
        raise BadArgument(name, f"can't load {path!r}: {error}") from None


def _components(settings: BaseSettings) -> Iterator[tuple[str, object]]:
    for name in _CLASSES:
        yield name, settings[name]
    for name in _CLASS_DICTIONARIES:
        try:
            components = settings.getdict(name)
        except (ValueError, TypeError, AttributeError) as error:
            raise BadArgument(
                name, f'is not a JSON object such as {{"package.Class": 300}}: {error}'
            ) from None
        for path, order in components.items():
            if order is not None:
                yield name, path
