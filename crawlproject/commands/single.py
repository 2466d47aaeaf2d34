"""Shared by the commands that fetch single URLs: fetch, view, shell, parse, check, bench.

Scrapy gives every command defaults of its own, below those of a project. Here they win over
this project's defaults, but not over what the user sets. Nothing is kept of such a fetch, so
a crawl directory or a shared crawl is refused.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES

from crawlproject import settings as ours
from crawlproject.commands.checks import check_set_up, check_set_up_of, check_settings
from crawlproject.commands.components import check_components, check_password
from crawlproject.commands.crawl import collect_no_more, complain
from crawlproject.commands.environment import use_environment
from crawlproject.errors import BadArgument, BadInput
from crawlproject.monitoring.streams import abandon_standard_output
from crawlproject.redaction import protect
from crawlproject.spiders.arguments import check_all

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from scrapy import Spider
    from scrapy.commands import ScrapyCommand
    from scrapy.settings import BaseSettings
else:
    # Scrapy takes every subclass of ScrapyCommand for a command.
    ScrapyCommand = object

# Who asks for one URL wants no sitemap, and the page behind a redirect.
SINGLE: dict[str, Any] = {
    "SITEMAPS_MODE": "never",
    "REDIRECT_ENABLED": True,
    "REFERER_ENABLED": True,
    "MONITORING_SUMMARY": False,
    "MONITORING_PROGRESS": False,
}


class SingleCommand(ScrapyCommand):
    """Errors of the user's become one line and exit status 2."""

    # Applied over this project's defaults; Scrapy's own for a command are added.
    single_settings: Mapping[str, Any] = SINGLE
    keeps_nothing = True

    @property
    def command(self) -> str:
        return type(self).__module__.rpartition(".")[2]

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        try:
            protect(dict(pair.partition("=")[::2] for pair in opts.set))
            check_settings(opts.set)
            use_environment(self.settings)
            super().process_options(args, opts)
            override(self.settings, {**self.single_settings, **self.default_settings})
            check_set_up(self.settings)
            check_components(self.settings)
            if self.keeps_nothing:
                self._refuse_to_keep()
            self.use_seeds(args[:1])
            check_all(self.settings)
        except BadInput as error:
            self.refuse(str(error))

    def use_seeds(self, urls: list[str]) -> None:
        """A spider of sites needs seeds: what is fetched."""
        assert self.settings is not None
        if urls and not self.settings.get("SEEDS"):
            self.settings.set("SEEDS", urls, priority="project")

    def refuse(self, message: str) -> None:
        complain(message, self.command)
        sys.exit(2)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            self.check_spider(opts)
            self.execute(args, opts)
            sys.stdout.flush()
        except BrokenPipeError:
            # Whoever read it has seen enough.
            abandon_standard_output()
        except BadInput as error:
            complain(str(error), self.command)
            self.exitcode = 2
            collect_no_more()

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        super().run(args, opts)  # type: ignore[safe-super]

    def check_spider(self, opts: argparse.Namespace) -> None:
        """Raise BadArgument for a spider that is not there, or whose arguments are wrong."""
        assert self.crawler_process is not None
        loader = self.crawler_process.spider_loader
        if (name := getattr(opts, "spider", None)) is None:
            return
        if name not in loader.list():
            known = ", ".join(sorted(loader.list()))
            raise BadArgument("--spider", f"{name!r} is not one of {known}")
        self.check_arguments(loader.load(name), getattr(opts, "spargs", None) or {})

    def check_arguments(self, spider: type[Spider], spargs: dict[str, str]) -> None:
        assert self.settings is not None
        settings = check_set_up_of(spider, self.settings)
        check_all(settings)
        check_components(settings)
        if (check := getattr(spider, "check_arguments", None)) is not None:
            check(spargs, settings)
        else:
            check_password(settings)

    def _refuse_to_keep(self) -> None:
        assert self.settings is not None
        for name in ("JOBDIR", "REDIS_URL"):
            if self.settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"]:
                raise BadArgument(
                    name, f"scrapy {self.command} keeps nothing: leave it out, or use scrapy crawl"
                )
            self.settings.set(name, None, priority="project")


def override(settings: BaseSettings, values: Mapping[str, Any]) -> None:
    """Set values in place of this project's defaults; what the user has set stays."""
    for name, value in values.items():
        is_default = (settings.getpriority(name) or 0) < SETTINGS_PRIORITIES["project"]
        if is_default or settings[name] == getattr(ours, name, None):
            settings.set(name, value, priority="project")
