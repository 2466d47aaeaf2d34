"""``scrapy why URL CRAWLDIR``: what became of a URL, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand

from crawlproject.commands import wording
from crawlproject.commands.account import account_of
from crawlproject.commands.inquiry import Inquiry, write_json
from crawlproject.commands.meant import draw_near, is_directory, url_meant
from crawlproject.commands.sheet import Sheet
from crawlproject.errors import BadArgument
from crawlproject.frontier import clock
from crawlproject.frontier.opening import host_function
from crawlproject.monitoring.limits import limits_of
from crawlproject.urls.fingerprint import canonicalizer_from

if TYPE_CHECKING:
    import argparse

    from crawlproject.commands.account import Account
    from crawlproject.frontier.source import Source


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
            "CRAWLDIR is the JOBDIR of a crawl, which may be running, or redis://… "
            "Exit status: 0 known, 1 never seen, 2 bad arguments."
        )

    def answer(self, operands: list[str], source: Source, opts: argparse.Namespace) -> int:
        assert self.settings is not None
        asked = operands[0]
        if is_directory(asked, source.folder):
            raise BadArgument("URL", f"{asked!r} is a directory: give {self.syntax()}")
        now = clock.now()
        with source.questions() as questions:
            limits = limits_of(questions.database, self.settings)
            url = url_meant(asked, questions, canonicalizer_from(self.settings))
            host = host_function(self.settings)(url)
            account: Account = {
                "asked": asked,
                "summary": None,
                **account_of(questions, url, host, limits, now),
                "running": source.running(),
            }
        account["summary"] = wording.summary(account, limits, now)
        if opts.json:
            write_json(account)
        else:
            _draw(account, now)
        return 1 if account["state"] is None else 0


def _draw(account: Account, now: float) -> None:
    sheet = Sheet()
    sheet.say(account["url"], account["summary"])
    sheet.pairs("", wording.facts(account, now))
    if account["state"] is not None:
        sheet.pairs("The way to it", wording.steps(account["way"]))
    sheet.table("Redirected from", "l", (), [(url,) for url in account["redirected_from"]])
    if len(account["redirects_to"]) > 1:
        sheet.table("Redirects to", "l", (), [(url,) for url in account["redirects_to"]])
    draw_near(sheet, account["near"])
    sheet.write()
