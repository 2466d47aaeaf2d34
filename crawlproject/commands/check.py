"""``scrapy check [SPIDER]``: contracts. The seeds of a SiteSpider are the URLs of its contracts."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from scrapy.commands import check

from crawlproject.commands.single import SingleCommand
from crawlproject.errors import BadArgument, BadInput

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy import Spider

_URL = "@url"


class Command(SingleCommand, check.Command):
    def use_seeds(self, urls: list[str]) -> None:
        """Later: the argument of this command is the name of a spider."""

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.crawler_process is not None
        loader = self.crawler_process.spider_loader
        for name in args:
            if name not in loader.list():
                known = ", ".join(sorted(loader.list()))
                raise BadArgument("spider", f"{name!r} is not one of {known}")
        spiders = [loader.load(name) for name in args or loader.list()]
        checked = {spider: urls for spider in spiders if (urls := list(_urls(spider)))}
        if checked and "seed" not in opts.spargs:
            super().use_seeds([url for urls in checked.values() for url in urls])
        if not opts.list:
            for spider in checked:
                try:
                    self.check_arguments(spider, opts.spargs)
                except BadInput as error:
                    raise BadInput(f"spider {spider.name!r}: {error}") from None
        super().execute(args, opts)


def _urls(spider: type[Spider]) -> Iterator[str]:
    """The URLs of contracts (``@url``) in the docstrings of a spider's methods."""
    for _, method in inspect.getmembers(spider, inspect.isfunction):
        for line in (method.__doc__ or "").splitlines():
            words = line.split()
            if words[:1] == [_URL] and len(words) > 1:
                yield words[1]
