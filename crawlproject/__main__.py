"""``python -m crawlproject [URL] [options]``: ``scrapy crawl site``, with the seed in front.

Without a URL and without a seed among the options, the bundled demo site is served on
loopback and crawled.
"""

from __future__ import annotations

import argparse
import sys

from scrapy.cmdline import execute

_DEMO_OUTPUT = "sitemap.json"
# The same address each time, so that two runs can be compared, if it is free.
_DEMO_PORT = 8765


def main(arguments: list[str]) -> None:
    url, options = split(arguments)
    if url is not None:
        execute(["scrapy", "crawl", "site", "-a", f"seed={url}", *options])
    if names_seed(options) or {"-h", "--help"} & set(options):
        execute(["scrapy", "crawl", "site", *options])
    _crawl_demo(options)


def split(arguments: list[str]) -> tuple[str | None, list[str]]:
    """The URL among the arguments, wherever it stands, and the rest."""
    _, rest = _options().parse_known_args(arguments)
    urls = [part for part in rest if not part.startswith("-")]
    if len(urls) > 1:
        print(
            f"scrapy crawl: error: {urls[1]!r}: give one URL, or several as -a 'seed=A B'",
            file=sys.stderr,
        )
        sys.exit(2)
    if not urls:
        return None, arguments
    options = list(arguments)
    options.remove(urls[0])
    return urls[0], options


def names_seed(options: list[str]) -> bool:
    known, _ = _options().parse_known_args(options)
    names = {value.partition("=")[0] for value in [*known.a, *known.set]}
    return bool(names & {"seed", "seeds_file", "SEEDS", "SEEDS_FILE"})


def _options() -> argparse.ArgumentParser:
    """The options of ``scrapy crawl`` that take a value."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-a", action="append", default=[])
    parser.add_argument("-s", "--set", action="append", default=[])
    parser.add_argument("-o", "--output", action="append", default=[])
    parser.add_argument("-O", "--overwrite-output", action="append", default=[])
    for names in (["-L", "--loglevel"], ["--logfile"], ["--profile"], ["--pidfile"]):
        parser.add_argument(*names)
    return parser


def _crawl_demo(options: list[str]) -> None:
    from crawlproject.demo.server import serve

    known, _ = _options().parse_known_args(options)
    if not (known.output or known.overwrite_output):
        options = [*options, "-O", _DEMO_OUTPUT]
    try:
        server = serve(_DEMO_PORT)
    except OSError:
        server = serve()
    with server as demo:
        print(f"No URL given: crawling the bundled demo site at {demo.url}", file=sys.stderr)
        execute(["scrapy", "crawl", "site", "-a", f"seed={demo.url}", *options])


if __name__ == "__main__":
    main(sys.argv[1:])
