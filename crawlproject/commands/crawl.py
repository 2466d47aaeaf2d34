"""``scrapy crawl``: bad input gets one line and exit status 2, and the status says how it went.

| exit status | meaning |
|---|---|
| 0 | finished, or stopped on purpose (Ctrl-C, timeout, max_pages): all outputs are complete |
| 1 | no seed could be fetched, or an output or the crawl directory could not be written |
| 2 | bad arguments: nothing was fetched |
| 130 | stopped at once, by a second Ctrl-C: no output was written |
"""

from __future__ import annotations

import argparse
import atexit
import errno
import gc
import os
import sys
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from scrapy.commands import crawl
from scrapy.exceptions import UsageError
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.conf import feed_process_params_from_cli
from scrapy.utils.misc import load_object

from crawlproject.commands.checks import (
    check_options,
    check_set_up,
    check_set_up_of,
    check_settings,
)
from crawlproject.commands.components import check_components, check_password
from crawlproject.commands.environment import use_environment, warn_of_secrets
from crawlproject.commands.outcome import Outcome
from crawlproject.errors import BadArgument, BadInput
from crawlproject.exports.feeds import Feeds, has_unstored
from crawlproject.exports.formats import complete_feeds, with_format
from crawlproject.exports.outputs import check_appended, check_outputs
from crawlproject.failures import explain
from crawlproject.frontier import frontier_of
from crawlproject.frontier.configuration import check_wiring
from crawlproject.frontier.opening import check_crawl_directory
from crawlproject.monitoring.listening import check_metrics_port
from crawlproject.monitoring.streams import tell
from crawlproject.pipelines.places import check_store
from crawlproject.redaction import SECRETS, protect
from crawlproject.render import NO_BROWSER
from crawlproject.spiders.arguments import ARGUMENTS, check_all
from crawlproject.wiring import Wiring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Spider
    from scrapy.crawler import Crawler

STDOUT = ("-", "stdout:")
# Ctrl-C, or ``scrapy stop``: what was not fetched may be fetched later.
_ON_PURPOSE = ("shutdown", "stopped")


class Command(crawl.Command):
    name = "crawl"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        width = max(map(len, ARGUMENTS))
        arguments = "\n".join(
            f"  -a {name + '=…':<{width + 2}}  {argument.help}"
            for name, argument in ARGUMENTS.items()
        )
        parser.epilog = (
            f"arguments of the spider 'site':\n{arguments}\n\n"
            "outputs by file extension: .json .jsonl .csv .xml .html .warc.gz .parquet, as in "
            "-O sitemap.json\n"
            "crawl directory: -s JOBDIR=DIR; the same command goes on where it stopped\n"
            "more in docs/usage.md"
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            protect(dict(pair.partition("=")[::2] for pair in opts.set))
            check_settings(opts.set)
            appended = self._take_appended(opts)
            assert self.settings is not None
            use_environment(self.settings)
            super().process_options(args, opts)
            protect(self.settings, opts.spargs)
            check_set_up(self.settings)
            if appended:
                self._add_appended(appended)
            self._choose_event_loop()
        except (UsageError, BadInput) as error:
            complain(_without_internals(str(error)), self.name)
            sys.exit(2)
        except OSError as error:
            complain(f"can't write {error.filename!r}: {error.strerror}", self.name)
            sys.exit(2)

    def _choose_event_loop(self) -> None:
        """The faster one, where it is installed. Not in the settings: a program that has a loop
        already could not use them.
        """
        assert self.settings is not None
        if self.settings["ASYNCIO_EVENT_LOOP"] is None and find_spec("uvloop"):
            self.settings.set("ASYNCIO_EVENT_LOOP", "uvloop.Loop", priority="cmdline")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            crawler = self.checked_crawler(args, opts)
        except BadInput as error:
            complain(str(error), self.name)
            self.exitcode = 2
            collect_no_more()
            return
        self.crawl(crawler, opts)

    def checked_crawler(self, args: list[str], opts: argparse.Namespace) -> Crawler:
        """Raises BadInput."""
        assert self.crawler_process is not None
        warn_of_secrets(opts.set)
        check_options(args[1:])
        # Both: Scrapy writes the process's settings into the crawler's once more.
        check_all(self.crawler_process.settings)
        spider = self._spider_class(args)
        check_set_up_of(spider, self.crawler_process.settings)
        crawler = self._create_crawler(spider)
        self._check(crawler, opts.spargs)
        return crawler

    def crawl(self, crawler: Crawler, opts: argparse.Namespace) -> None:
        assert self.crawler_process is not None
        outcome = Outcome(crawler)
        with less_garbage_collection():
            self.crawler_process.crawl(crawler, **opts.spargs)
            self.crawler_process.start()
        failed = self.crawler_process.bootstrap_failed
        self.exitcode = self.exit_status(crawler, outcome, bootstrap_failed=failed)

    def exit_status(self, crawler: Crawler, outcome: Outcome, *, bootstrap_failed: bool) -> int:
        say = partial(complain, command=self.name)
        return _exit_status(crawler, outcome, say, bootstrap_failed=bootstrap_failed)

    def _take_appended(self, opts: argparse.Namespace) -> list[str]:
        """The outputs of ``-o``, and standard output, which can't be replaced."""
        appended = list(opts.output or ())
        for uri in appended:
            check_appended(uri)
        replaced = [with_format(uri) for uri in opts.overwrite_output or ()]
        opts.output = None
        opts.overwrite_output = [uri for uri in replaced if not uri.startswith(STDOUT)] or None
        appended = [with_format(uri) for uri in appended]
        return appended + [uri for uri in replaced if uri.startswith(STDOUT)]

    def _add_appended(self, uris: list[str]) -> None:
        """Scrapy takes ``-o`` or ``-O``; a log of pages and a fresh report go well together."""
        assert self.settings is not None
        feeds = feed_process_params_from_cli(self.settings, uris)
        if self.settings.getpriority("FEEDS") == SETTINGS_PRIORITIES["cmdline"]:
            feeds = {**self.settings.getdict("FEEDS"), **feeds}
        self.settings.set("FEEDS", feeds, priority="cmdline")

    def _spider_class(self, args: list[str]) -> type[Spider]:
        assert self.crawler_process is not None
        loader = self.crawler_process.spider_loader
        known = ", ".join(sorted(loader.list()))
        if not args:
            raise BadArgument("spider", f"missing: give one of {known}")
        if args[0] not in loader.list():
            raise BadArgument("spider", f"{args[0]!r} is not one of {known}")
        return loader.load(args[0])

    def _check(self, crawler: Crawler, spargs: dict[str, str]) -> None:
        complete_feeds(crawler.settings)
        check_all(crawler.settings)
        check_components(crawler.settings)
        settings = crawler.settings.copy()
        check = getattr(crawler.spidercls, "check_arguments", None)
        if check is not None:
            check(spargs, settings)
        else:
            check_password(settings)
        if Wiring not in map(load_object, crawler.settings.getdict("ADDONS")):
            check_wiring(crawler.settings)
        check_outputs(crawler.settings.getdict("FEEDS"), crawler)
        check_store(settings)
        check_metrics_port(settings)
        check_crawl_directory(crawler.settings, crawler.spidercls.name)


@contextmanager
def less_garbage_collection() -> Iterator[None]:
    """Spare the collector what lives as long as the crawl: a tenth of its processor time."""
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
        collect_no_more()


def collect_no_more() -> None:
    """Collect no garbage at the interpreter's exit.

    It would take a third of a second, and find only what ends with the process anyway: what must
    be closed is closed by now, or at exit. An event loop that has not run would be taken apart in
    any order, at worst with a traceback.
    """
    atexit.register(gc.freeze)


def _exit_status(
    crawler: Crawler,
    outcome: Outcome,
    complain: Callable[[str], None],
    *,
    bootstrap_failed: bool,
) -> int:
    problem = _storage_problem(crawler)
    if bootstrap_failed and problem is None:
        return 1
    if outcome.reason is None:
        return cut_short(outcome.has_sent_a_request, crawler.settings["JOBDIR"])
    if problem is not None:
        is_kept = crawler.settings["JOBDIR"] or crawler.settings["REDIS_URL"]
        goes_on = "; the same command goes on from what is there" if is_kept else ""
        place = frontier_of(crawler).place
        complain(f"{place} can't be used: {problem}. No output was written{goes_on}")
        return 1
    if outcome.reason == NO_BROWSER:
        complain("the browser can't be started: the line above says why. Nothing is lost")
        return 1
    feeds = crawler.get_extension(Feeds)
    if feeds is not None and feeds.failures:
        for uri, problem in feeds.failures.items():
            complain(output_problem(uri, problem))
        return 1
    if has_unstored(crawler):
        complain("an output could not be stored: the log says which")
        return 1
    failures: dict[str, str] = getattr(crawler.spider, "seed_failures", {})
    if failures and outcome.reason not in _ON_PURPOSE and not _has_fetched_a_seed(crawler):
        for seed, error in list(failures.items())[:10]:
            complain(f"the seed {seed} could not be fetched: {explain(error)}")
        return 1
    return 0


def cut_short(has_begun: bool, place: str | None) -> int:
    """A second Ctrl-C, or one before anything had begun. ``place`` has what was fetched."""
    if not has_begun:
        tell("Stopped before the first request: nothing was written.")
        return 0
    kept = f"is in {place}: the same command goes on" if place else "is lost (no JOBDIR)"
    tell(f"Stopped at once: no output was written. What was fetched {kept}.")
    return 130


def _has_fetched_a_seed(crawler: Crawler) -> bool:
    """In this run, or in an earlier one."""
    if getattr(crawler.spider, "has_fetched_a_seed", False):
        return True
    with suppress(LookupError):
        return frontier_of(crawler).read().has_fetched_a_seed()
    return False


def _storage_problem(crawler: Crawler) -> str | None:
    try:
        return frontier_of(crawler).failure
    except LookupError:
        return None


def output_problem(uri: str, problem: str) -> str:
    """Why an output is not there, in words."""
    if not uri.startswith(STDOUT):
        return f"can't write {uri!r}: {problem}"
    if problem == os.strerror(errno.EPIPE):
        return "standard output was closed before all was written"
    return f"can't write to standard output: {problem}"


def _without_internals(message: str) -> str:
    """Scrapy's message on an unknown format lists all of its own as a tuple."""
    head, found, _ = message.partition(". Set a supported one")
    if not found:
        return message
    known = ".json, .jsonl, .csv, .xml, .html, .warc.gz or .parquet"
    return f"{head}: give the file the extension {known}"


def complain(message: str, command: str = "crawl") -> None:
    line = " ".join(SECRETS.clean(message).split())
    tell(f"scrapy {command}: error: {line}")
