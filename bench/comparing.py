"""What ``bench crawl``, ``cluster`` and ``service`` share: each crawls one site in several ways."""

from __future__ import annotations

import argparse
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bench.measure import CrawlFailed
from bench.options import OneLineParser, count
from bench.server import NoServer, serve
from bench.site import Site
from crawlproject.errors import BadRedis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.server import Served


class Compared(Protocol):
    @property
    def differences(self) -> Sequence[Any]: ...

    def as_json(self) -> str: ...

    def show(self) -> None: ...


def parser_of(name: str, description: str | None, pages: int) -> argparse.ArgumentParser:
    parser = OneLineParser(prog=f"bench {name}", description=description, allow_abbrev=False)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--pages", type=count, default=pages, help="of the site (%(default)s)")
    parser.add_argument("--repeat", type=count, default=3, help="runs of each (%(default)s)")
    parser.add_argument(
        "--server", choices=("auto", "nginx", "python"), default="auto", help="(%(default)s)"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("bench.json"), help="all figures (./%(default)s)"
    )
    return parser


def run(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str],
    compare: Callable[[argparse.Namespace], Compared],
) -> int:
    """Compare as the arguments say, and write and show the report; the exit status."""
    options = parser.parse_args(arguments)
    try:
        _check_writable(options.output)
    except OSError as error:
        print(f"{parser.prog}: error: --output: {error}", file=sys.stderr)
        return 2
    try:
        report = compare(options)
    except (CrawlFailed, NoServer, BadRedis) as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return 1
    options.output.write_text(report.as_json(), encoding="utf-8")
    report.show()
    return 1 if report.differences else 0


@contextmanager
def served_site(options: argparse.Namespace, folder: Path) -> Iterator[tuple[Site, Served]]:
    """The site of the options, written into a folder and served."""
    site, root = Site(options.pages), folder / "site"
    root.mkdir()
    say(f"writing a site of {options.pages} pages")
    site.write(root)
    with serve(root, folder / "server", options.server) as served:
        say(f"served by {served.server}" + (f" ({served.note})" if served.note else ""))
        yield site, served


def say(what: str) -> None:
    print(f"bench: {what} …", file=sys.stderr, flush=True)


def _check_writable(path: Path) -> None:
    """Minutes later would be too late to say that the figures cannot be written."""
    is_new = not path.exists()
    with path.open("a", encoding="utf-8"):
        pass
    if is_new:
        path.unlink()
