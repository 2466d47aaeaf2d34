"""Which URL a user means, of those that a crawl knows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlproject.errors import BadArgument
from crawlproject.frontier.database import DATABASE
from crawlproject.scope.internal import is_internal
from crawlproject.urls.canonical import NotCrawlable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlproject.commands.sheet import Sheet
    from crawlproject.frontier.questions import Questions
    from crawlproject.urls.canonical import Canonicalizer

# ``mailto:someone``, but neither ``localhost:8000`` nor ``example.com:443``.
_other_scheme = re.compile(r"[A-Za-z][A-Za-z0-9+-]*:(?!\d)").match
# Hosts that are named when a path may be on several.
_CHOICES = 5


def url_meant(asked: str, questions: Questions, canonicalize: Canonicalizer) -> str:
    """The canonical URL, in the spelling that is known, if one is. Raises BadArgument."""
    meant = _of_the_seeds(asked, questions) if _is_path(asked) else [asked]
    spellings = [spelling for url in meant for spelling in canonical_spellings(url, canonicalize)]
    return next((url for url in spellings if questions.find(url) is not None), spellings[0])


def draw_near(sheet: Sheet, near: Sequence[dict[str, Any]]) -> None:
    """Known URLs that come near to one that is not."""
    rows = [(_state(one), one["url"], one["how"]) for one in near]
    sheet.table("Known URLs that come near", "lll", (), rows)


def _state(near: dict[str, Any]) -> str:
    return f"{near['state']}: {near['reason']}" if near["reason"] else str(near["state"])


def _is_path(asked: str) -> bool:
    return asked.startswith("/") and not asked.startswith("//")


def is_directory(asked: str, folder: Path | None) -> bool:
    """Whether it was not meant as a URL: a path of the site may be one of this machine, too."""
    if "://" in asked or not Path(asked).is_dir():
        return False
    is_crawl = (Path(asked) / DATABASE).exists()
    if is_crawl or not _is_path(asked):
        return True
    return folder is not None and not (folder / DATABASE).exists()


def _of_the_seeds(path: str, questions: Questions) -> list[str]:
    """What a path alone may mean: a URL of the one host that the seeds lead to."""
    sites = questions.sites()
    if not sites:
        raise BadArgument("URL", f"{path!r} has no host, and the crawl no seed: give a whole URL")
    if len(sites) > 1:
        choices = [f"{origins[0]}{path}" for origins in sites.values()]
        rest = " …" if len(choices) > _CHOICES else ""
        raise BadArgument(
            "URL",
            f"{path!r} may be on any of {len(sites):,} hosts: give one of "
            f"{', '.join(choices[:_CHOICES])}{rest}",
        )
    return [f"{origin}{path}" for origins in sites.values() for origin in origins]


def canonical_spellings(asked: str, canonicalize: Canonicalizer) -> list[str]:
    """What a URL may mean: without a scheme, both of them."""
    urls = [asked]
    if "://" not in asked and not _other_scheme(asked):
        host = asked.partition("/")[0].partition(":")[0]
        schemes = ("http", "https") if is_internal(host) else ("https", "http")
        urls = [f"{scheme}://{asked}" for scheme in schemes]
    try:
        return [canonicalize(url) for url in urls]
    except NotCrawlable as error:
        raise BadArgument("URL", str(error)) from None
