"""``scrapy shell [URL|FILE]``: Scrapy's console; it may open local files, unlike a crawl."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import shell
from scrapy.utils.url import guess_scheme
from w3lib.url import file_uri_to_path

from crawlproject import settings as ours
from crawlproject.commands.components import check_password
from crawlproject.commands.crawl import complain
from crawlproject.commands.single import SINGLE, SingleCommand
from crawlproject.errors import BadArgument
from crawlproject.failures import FETCH_ERRORS, error_of, explain
from crawlproject.frontier.scheduler import FrontierScheduler

if TYPE_CHECKING:
    import argparse

    from scrapy import Request

_FILE_HANDLER = "scrapy.core.downloader.handlers.file.FileDownloadHandler"
_IN_MEMORY = "kept_in_memory"


class ShellScheduler(FrontierScheduler):
    """Fetches every request of the shell, also the same one twice.

    The shell sets the callback after the request was scheduled. So the request itself has to stay
    in memory: its text would have the callback of before.
    """

    def enqueue_request(self, request: Request) -> bool:
        request.dont_filter = True
        # JSON has no form for it: such a request is kept as it is.
        request.meta[_IN_MEMORY] = object()
        return super().enqueue_request(request)


class Command(SingleCommand, shell.Command):
    # Scrapy's names a filter that filters nothing: here the scheduler sees to it.
    default_settings: ClassVar[dict[str, Any]] = {
        **shell.Command.default_settings,
        "DUPEFILTER_CLASS": ours.DUPEFILTER_CLASS,
    }
    single_settings = {  # noqa: RUF012
        **SINGLE,
        "SCHEDULER": f"{ShellScheduler.__module__}.{ShellScheduler.__qualname__}",
    }

    def use_seeds(self, urls: list[str]) -> None:
        assert self.settings is not None
        urls = [guess_scheme(url) for url in urls]
        files = [url for url in urls if url.startswith("file:")]
        if not files:
            super().use_seeds(urls)
            return
        for url in files:
            if not Path(file_uri_to_path(url)).is_file():
                raise BadArgument("URL", f"there is no file {file_uri_to_path(url)!r}")
        handlers = {**self.settings.getdict("DOWNLOAD_HANDLERS"), "file": _FILE_HANDLER}
        self.settings.set("DOWNLOAD_HANDLERS", handlers, priority="cmdline")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        if opts.spider is None:
            check_password(self.settings)
        try:
            super().execute(args, opts)
        except FETCH_ERRORS as error:
            # Of what is fetched before the console begins, or by the code of ``-c``.
            what = args[0] if args else "the URL"
            complain(f"{what} could not be fetched: {explain(error_of(error))}", self.command)
            self.exitcode = 1

    def update_vars(self, vars: dict[str, Any]) -> None:
        if vars["response"] is None and vars["request"] is not None:
            complain(f"{vars['request'].url} could not be fetched; -L INFO says more", self.command)
