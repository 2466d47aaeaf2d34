"""``scrapy why URL CRAWLDIR``: what became of a URL, and why."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand

from crawlproject.commands import wording
from crawlproject.commands.account import account_of, limits_of
from crawlproject.commands.inquiry import Inquiry, opened, write_json
from crawlproject.commands.sheet import Sheet
from crawlproject.errors import BadArgument
from crawlproject.frontier import clock
from crawlproject.frontier.database import DATABASE, holder
from crawlproject.frontier.opening import host_function
from crawlproject.frontier.questions import Questions
from crawlproject.scope.internal import is_internal
from crawlproject.urls.canonical import NotCrawlable
from crawlproject.urls.fingerprint import canonicalizer_from

if TYPE_CHECKING:
    import argparse

    from crawlproject.commands.account import Account
    from crawlproject.urls.canonical import Canonicalizer

# ``mailto:someone``, but neither ``localhost:8000`` nor ``example.com:443``.
_other_scheme = re.compile(r"[A-Za-z][A-Za-z0-9+-]*:(?!\d)").match
# Hosts that are named when a path may be on several.
_CHOICES = 5


class Command(Inquiry, ScrapyCommand):
    name = "why"
    operands: ClassVar[tuple[str, ...]] = ("URL",)

    def short_desc(self) -> str:
        return "Say what became of a URL in a crawl, and why"

    def long_desc(self) -> str:
        return (
            "Say what became of a URL: fetched, failed, queued (behind what), skipped (by which "
            "rule, and what would let it in) or never seen (and which known URLs come near). "
            "A path alone, such as /news/, is one of the seed's host. "
            "CRAWLDIR is the JOBDIR of a crawl, which may be running. "
            "Exit status: 0 known, 1 never seen, 2 bad arguments."
        )

    def answer(self, operands: list[str], folder: Path, opts: argparse.Namespace) -> int:
        assert self.settings is not None
        asked = operands[0]
        if _is_directory(asked, folder):
            raise BadArgument("URL", f"{asked!r} is a directory: give {self.syntax()}")
        now = clock.now()
        with opened(folder) as database:
            limits = limits_of(database, self.settings)
            questions = Questions(database)
            meant = _of_the_seeds(asked, questions) if _is_path(asked) else [asked]
            url = _known_one(questions, meant, canonicalizer_from(self.settings))
            host = host_function(self.settings)(url)
            account: Account = {
                "asked": asked,
                "summary": None,
                **account_of(database, url, host, limits, now),
                "running": holder(folder),
            }
        account["summary"] = wording.summary(account, limits, now)
        if opts.json:
            write_json(account)
        else:
            _draw(account, now)
        return 1 if account["state"] is None else 0


def _is_path(asked: str) -> bool:
    return asked.startswith("/") and not asked.startswith("//")


def _is_directory(asked: str, folder: Path) -> bool:
    """Whether it was not meant as a URL: a path of the site may be one of this machine, too."""
    if "://" in asked or not Path(asked).is_dir():
        return False
    is_crawl = (Path(asked) / DATABASE).exists()
    return is_crawl or not _is_path(asked) or not (folder / DATABASE).exists()


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


def _known_one(questions: Questions, meant: list[str], canonicalize: Canonicalizer) -> str:
    spellings = [spelling for url in meant for spelling in canonical_spellings(url, canonicalize)]
    return next((url for url in spellings if questions.find(url) is not None), spellings[0])


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


def _draw(account: Account, now: float) -> None:
    sheet = Sheet()
    sheet.say(account["url"], account["summary"])
    sheet.pairs("", wording.facts(account, now))
    if account["state"] is not None:
        sheet.pairs("The way to it", wording.steps(account["way"]))
    sheet.table("Redirected from", "l", (), [(url,) for url in account["redirected_from"]])
    if len(account["redirects_to"]) > 1:
        sheet.table("Redirects to", "l", (), [(url,) for url in account["redirects_to"]])
    sheet.table(
        "Known URLs that come near",
        "lll",
        (),
        [(_state(near), near["url"], near["how"]) for near in account["near"]],
    )
    sheet.write()


def _state(near: Account) -> str:
    return f"{near['state']}: {near['reason']}" if near["reason"] else str(near["state"])
