"""``./scripts/crawl [URL] [options]``: ``scrapy crawl site``, with the seed in front.

``./scripts/cluster`` is the same for ``scrapy cluster site``.

Without a URL and without a seed among the options, the bundled demo site is served on
loopback and crawled.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

from scrapy.cmdline import ScrapyArgumentParser, execute

from crawlproject.commands.checks import check_options
from crawlproject.commands.crawl import complain
from crawlproject.errors import BadCrawlDirectory, BadInput
from crawlproject.frontier.looking import reading
from crawlproject.frontier.reading import Reader
from crawlproject.monitoring.streams import tell

CRAWL, CLUSTER = "crawl", "cluster"

_DEMO_OUTPUT = "sitemap.json"
# The same address each time, so that two runs can be compared, if it is free.
_DEMO_PORT = 8765

_HELP = """\
usage: ./scripts/crawl [URL] [options]

Crawl a site, politely. The URL may come first, or anywhere among the options. Without one, the
bundled demo site is crawled, offline.

  ./scripts/crawl https://example.com -O sitemap.json
      one file, written at the end
  ./scripts/crawl https://example.com -s JOBDIR=crawls/example -O sitemap.json
      with a crawl directory: whatever ends the crawl, the same command goes on where it stopped
  ./scripts/crawl -a seeds_file=urls.txt -a depth=0 -a scope=any -O check.csv
      do these URLs answer?

The options are those of scrapy crawl:
"""


_CLUSTER_HELP = """\
usage: ./scripts/cluster [-n N] [URL] [options]

Crawl a site with several processes of this machine, as one crawl: one politeness, one output.
They share a Redis, which is started for them. Without a URL, the bundled demo site is crawled.

  ./scripts/cluster https://example.com -O sitemap.json
      one process for each processor
  ./scripts/cluster -n 4 --dir crawls/example https://example.com -O sitemap.json
      with a crawl directory: whatever ends the crawl, the same command goes on where it stopped
  ./scripts/cluster https://example.com -s REDIS_URL=redis://HOST:6379/0 -O sitemap.json
      with others, on other machines, that were started with the same URL and the same Redis

The options are those of scrapy crawl, and two more:
"""


class Options(ScrapyArgumentParser):
    """The options of ``scrapy crawl``; what is wrong with them is said in one line."""

    def __init__(self, command: str = CRAWL) -> None:
        super().__init__(add_help=False, allow_abbrev=False)
        if command == CLUSTER:
            self.add_argument("-n", "--processes")
            self.add_argument("--dir")
        self.add_argument("-a", action="append", default=[])
        self.add_argument("-s", "--set", action="append", default=[])
        self.add_argument("-o", "--output", action="append", default=[])
        self.add_argument("-O", "--overwrite-output", action="append", default=[])
        for names in (["-L", "--loglevel"], ["--logfile"], ["--profile"], ["--pidfile"]):
            self.add_argument(*names)
        for flags in (["-h", "--help"], ["--nolog"], ["--pdb"]):
            self.add_argument(*flags, action="store_true")

    def error(self, message: str) -> NoReturn:
        raise BadInput(message)


def main(arguments: list[str], command: str = CRAWL) -> None:
    try:
        url, options = split(arguments, command)
        if url is not None and names_seed(options, command):
            raise BadInput(f"give the URL {url} or a seed among the options, not both")
    except BadInput as error:
        complain(str(error), command)
        sys.exit(2)
    wants_help = not {"-h", "--help"}.isdisjoint(options)
    if url is not None and not wants_help:
        execute(["scrapy", command, "site", "-a", f"seed={url}", *options])
    if wants_help:
        tell(_CLUSTER_HELP if command == CLUSTER else _HELP, sys.stdout)
    if names_seed(options, command) or wants_help:
        execute(["scrapy", command, "site", *options])
    try:
        _check_new(options, command)
    except BadInput as error:
        complain(str(error), command)
        sys.exit(2)
    _crawl_demo(options, command)


def _check_new(options: list[str], command: str) -> None:
    """Raise BadInput for a crawl directory that has begun: the demo is not to join a site in it."""
    known, _ = Options(command).parse_known_args(options)
    settings = dict(pair.partition("=")[::2] for pair in known.set)
    folder = getattr(known, "dir", None) or settings.get("JOBDIR")
    if not folder:
        return
    if command == CLUSTER and any(Path(folder).glob("*")):
        raise BadInput(f"no URL given, and {folder!r} holds a crawl: give its URL to go on")
    try:
        with reading(Path(folder)) as database:
            seeds = Reader(database).seeds()
    except BadCrawlDirectory:
        # There is none, or Scrapy's command says what is wrong with it.
        return
    if seeds:
        raise BadInput(
            f"no URL given, and {folder!r} holds a crawl of {seeds[0]}: give that URL to go on"
        )


def split(arguments: list[str], command: str = CRAWL) -> tuple[str | None, list[str]]:
    """The URL among the arguments, wherever it stands, and the rest."""
    _, rest = Options(command).parse_known_args(arguments)
    urls = [part for part in rest if _may_be_url(part)]
    check_options([part for part in rest if part not in urls])
    if len(urls) > 1:
        raise BadInput(f"{urls[1]!r}: give one URL, or several as -a 'seed=A B'")
    if not urls:
        return None, arguments
    options = list(arguments)
    options.remove(urls[0])
    return urls[0], options


def names_seed(options: list[str], command: str = CRAWL) -> bool:
    known, _ = Options(command).parse_known_args(options)
    names = {value.partition("=")[0] for value in [*known.a, *known.set]}
    return bool(names & {"seed", "seeds_file", "SEEDS", "SEEDS_FILE"})


def _may_be_url(part: str) -> bool:
    """Whether it was meant as a URL; which ones are good, the spider says."""
    is_written_so = part == "localhost" or any(mark in part for mark in ":./")
    return not part.startswith("-") and is_written_so


def _crawl_demo(options: list[str], command: str) -> None:
    from crawlproject.demo.server import serve

    known, _ = Options(command).parse_known_args(options)
    if not (known.output or known.overwrite_output):
        options = [*options, "-O", _DEMO_OUTPUT]
    try:
        server = serve(_DEMO_PORT)
    except OSError:
        server = serve()
    with server as demo:
        tell(f"No URL given: crawling the bundled demo site at {demo.url}")
        execute(["scrapy", command, "site", "-a", f"seed={demo.url}", *options])
