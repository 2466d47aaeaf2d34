"""What can be wrong with a command line, found before the crawl is set up."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from scrapy.settings import default_settings
from scrapy.utils.misc import load_object

from crawlproject import settings as project
from crawlproject.errors import BadArgument, BadInput
from crawlproject.spiders.arguments import ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy.settings import BaseSettings

_CLASSES = (
    "FRONTIER_GATEKEEPER",
    "SCHEDULER",
    "DUPEFILTER_CLASS",
    "REQUEST_FINGERPRINTER_CLASS",
    "ROBOTSTXT_PARSER",
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


def check_setting_names(given: Sequence[str]) -> None:
    """Raise BadInput for ``-s`` with a name that is almost, but not quite, a setting.

    A name that resembles none may belong to a team's own component.
    """
    known = {name for name in (*vars(default_settings), *vars(project)) if name.isupper()}
    for pair in given:
        name = pair.partition("=")[0].strip()
        if name in known:
            continue
        nearest = get_close_matches(name.upper(), known, n=1, cutoff=0.8)
        if nearest:
            raise BadInput(f"unknown setting {name!r}; did you mean -s {nearest[0]}=…?")


def check_components(settings: BaseSettings) -> None:
    """Raise BadArgument for a class in the settings that can't be loaded."""
    for name, path in _components(settings):
        if not isinstance(path, str):
            continue
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
        except (ValueError, TypeError) as error:
            raise BadArgument(
                name, f'is not a JSON object such as {{"package.Class": 300}}: {error}'
            ) from None
        for path, order in components.items():
            if order is not None:
                yield name, path
