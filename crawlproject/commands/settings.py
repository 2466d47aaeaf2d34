"""``scrapy settings --get NAME``: also what the environment says (``CRAWLPROJECT_NAME=…``)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.commands import settings

from crawlproject.commands.crawl import complain
from crawlproject.commands.environment import use_environment
from crawlproject.errors import BadInput

if TYPE_CHECKING:
    import argparse


class Command(settings.Command):
    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        try:
            use_environment(self.settings)
        except BadInput as error:
            complain(str(error), "settings")
            sys.exit(2)
        super().process_options(args, opts)
