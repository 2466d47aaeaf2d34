"""What can be wrong with a command line, found before the crawl is set up."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import BaseSettings, default_settings
from scrapy.utils.versions import get_versions

from crawlproject import settings as project
from crawlproject.commands.components import check_ordered, load_class
from crawlproject.errors import BadArgument, BadInput
from crawlproject.private_files import create_private, target_of
from crawlproject.redaction import HIDDEN, may_hold_secret
from crawlproject.spiders.arguments import ARGUMENTS
from crawlproject.spiders.refused import REFUSED
from crawlproject.spiders.values import encoding, log_level, yes_or_no

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Spider

# Those have words of their own.
_OBJECTS_CHECKED_LATER = ("POLITENESS_HOSTS", "FETCHING_HEADERS", "FETCHING_COOKIES")
_DEFAULTS = {**REFUSED, **vars(default_settings), **vars(project)}
# Scrapy needs these before it is said which spider is to run. A method that each must have.
_EARLY_CLASSES = {
    "TWISTED_REACTOR": "callWhenRunning",
    "ASYNCIO_EVENT_LOOP": "run_forever",
    "SPIDER_LOADER_CLASS": "from_settings",
}
_EARLY_SWITCHES = (
    *("LOG_ENABLED", "LOG_COLOR", "LOG_FILE_APPEND", "LOG_INSTALL_ROOT_HANDLER"),
    *("LOG_SHORT_NAMES", "LOG_STDOUT"),
    *("FORCE_CRAWLER_PROCESS", "SPIDER_LOADER_WARN_ONLY", "TWISTED_REACTOR_ENABLED"),
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
    known = {name for name in _DEFAULTS if name.isupper()}
    for pair in given:
        name, _, value = pair.partition("=")
        name = name.strip()
        if name in known:
            check_form(name, value)
            continue
        nearest = get_close_matches(name.upper(), known, n=1, cutoff=0.8)
        if nearest:
            raise BadInput(f"unknown setting {name!r}; did you mean -s {nearest[0]}=…?")


def check_form(name: str, value: str) -> None:
    """Raise BadArgument for what is no object where there must be one."""
    if isinstance(_DEFAULTS.get(name), dict) and name not in _OBJECTS_CHECKED_LATER:
        _check_object(name, value)


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
    for name, method in _EARLY_CLASSES.items():
        if settings[name] is not None:
            load_class(name, settings[name], method)
    check_ordered("ADDONS", settings)
    for name in settings.getlist("SPIDER_MODULES"):
        try:
            import_module(name)
        except ImportError as error:
            raise BadArgument("SPIDER_MODULES", f"can't load {name!r}: {error}") from None
    # Before Scrapy sets up the log by it.
    level = log_level("LOG_LEVEL", settings["LOG_LEVEL"])
    settings.set("LOG_LEVEL", level, settings.getpriority("LOG_LEVEL") or 0)
    encoding("LOG_ENCODING", settings["LOG_ENCODING"])
    _check_log_format(settings)
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


def check_set_up_of(spider: type[Spider], settings: BaseSettings) -> BaseSettings:
    """The settings with the spider's own. Raise BadArgument for what Scrapy would stumble over
    while it makes a crawler: it sets up the log again.
    """
    for name, value in (spider.custom_settings or {}).items():
        if isinstance(settings.get(name), BaseSettings) and not isinstance(value, Mapping):
            _check_object(name, str(value))
    own = settings.copy()
    spider.update_settings(own)
    for name in filter(own.__contains__, _EARLY_SWITCHES):
        try:
            own.getbool(name)
        except ValueError:
            raise BadArgument(name, f"{own[name]!r} is not True or False") from None
    level = own["LOG_LEVEL"]
    check_set_up(own)
    if own["LOG_LEVEL"] != level:
        raise BadArgument("LOG_LEVEL", f"{level!r} of a spider is written {own['LOG_LEVEL']!r}")
    return own


def _check_log_format(settings: BaseSettings) -> None:
    record = logging.makeLogRecord({"name": "crawlproject"})
    try:
        logging.Formatter(settings["LOG_FORMAT"], settings["LOG_DATEFORMAT"]).format(record)
    except (ValueError, TypeError) as error:
        raise BadArgument(
            "LOG_FORMAT",
            f"{settings['LOG_FORMAT']!r} is not a format such as '%(levelname)s: %(message)s': "
            f"{error}",
        ) from None
