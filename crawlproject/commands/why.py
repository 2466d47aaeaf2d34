"""``scrapy why URL CRAWLDIR``: what became of a URL, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand

from crawlproject.commands import wording
from crawlproject.commands.account import account_of, limits_of
from crawlproject.commands.inquiry import Inquiry, opened, write_json
from crawlproject.commands.sheet import Sheet
from crawlproject.errors import BadArgument
from crawlproject.frontier import clock
from crawlproject.frontier.opening import host_function
from crawlproject.frontier.overview import holder
from crawlproject.frontier.questions import Questions
from crawlproject.scope.internal import is_internal
from crawlproject.urls.canonical import NotCrawlable
from crawlproject.urls.fingerprint import canonicalizer_from

if TYPE_CHECKING:
    import argparse
    import sqlite3

    from crawlproject.commands.account import Account
    from crawlproject.urls.canonical import Canonicalizer


class Command(Inquiry, ScrapyCommand):
    name = "why"
    operands: ClassVar[tuple[str, ...]] = ("URL",)

    def short_desc(self) -> str:
        return "Say what became of a URL in a crawl, and why"

    def long_desc(self) -> str:
        return (
            "Say what became of a URL: fetched, failed, queued (behind what), skipped (by which "
            "rule, and what would let it in) or never seen (and which known URLs come near). "
            "CRAWLDIR is the JOBDIR of a crawl, which may be running. "
            "Exit status: 0 known, 1 never seen, 2 bad arguments."
        )

    def answer(self, operands: list[str], folder: Path, opts: argparse.Namespace) -> int:
        assert self.settings is not None
        asked = operands[0]
        if "://" not in asked and Path(asked).is_dir():
            raise BadArgument("URL", f"{asked!r} is a directory: give {self.syntax()}")
        spellings = canonical_spellings(asked, canonicalizer_from(self.settings))
        now = clock.now()
        with opened(folder) as database:
            limits = limits_of(database, self.settings)
            url = _known_one(database, spellings)
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


def canonical_spellings(asked: str, canonicalize: Canonicalizer) -> list[str]:
    """What a URL may mean: without a scheme, both of them."""
    urls = [asked]
    if "://" not in asked:
        host = asked.partition("/")[0].partition(":")[0]
        schemes = ("http", "https") if is_internal(host) else ("https", "http")
        urls = [f"{scheme}://{asked}" for scheme in schemes]
    try:
        return [canonicalize(url) for url in urls]
    except NotCrawlable as error:
        raise BadArgument("URL", str(error)) from None


def _known_one(database: sqlite3.Connection, spellings: list[str]) -> str:
    questions = Questions(database)
    return next((url for url in spellings if questions.find(url) is not None), spellings[0])


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
