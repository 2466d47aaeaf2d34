"""What the commands that look into a crawl share: arguments, errors.

A crawl is in a crawl directory, or in Redis: what is said here of CRAWLDIR is true of
``redis://…``, too (``frontier/source.py``).

| exit status | meaning |
|---|---|
| 0 | answered |
| 1 | ``why``: the URL was never seen; ``page``: no such page, or no body of it |
| | ``skipped``, ``report``: the output could not be written |
| | ``export``: an output could not be written |
| | ``forget``: workers are at the crawl |
| 2 | bad arguments, or no crawl that can be read |
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from difflib import get_close_matches
from typing import IO, TYPE_CHECKING, Any, ClassVar, NoReturn

from crawlproject.commands.crawl import complain
from crawlproject.commands.environment import use_environment
from crawlproject.errors import BadArgument, BadInput, BadOutput
from crawlproject.exports.storage import replaced
from crawlproject.frontier.redis.address import check_address, is_address
from crawlproject.frontier.source import source_of
from crawlproject.monitoring.streams import abandon_standard_output, standard_output
from crawlproject.records import json_encoder
from crawlproject.redaction import protect

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

    from scrapy.settings import BaseSettings, Settings

    from crawlproject.frontier.source import Source

INTERRUPTED = 130


class Inquiry(ABC):
    """Comes before ScrapyCommand among a command's bases.

    It is none itself: Scrapy takes every command class in this folder for a command.
    """

    name: ClassVar[str]
    # The positional arguments before CRAWLDIR.
    operands: ClassVar[tuple[str, ...]] = ()
    # Its own, beside those of all.
    options: ClassVar[tuple[str, ...]] = ("--json",)
    requires_crawler_process = False
    exitcode = 0
    settings: Settings | None

    @abstractmethod
    def answer(self, operands: list[str], source: Source, opts: argparse.Namespace) -> int:
        """Answer on standard output; the exit status."""

    def syntax(self) -> str:
        return " ".join((*self.operands, "CRAWLDIR", "[options]"))

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)  # type: ignore[misc]
        add_source_options(parser)
        if "--json" in self.options:
            parser.add_argument("--json", action="store_true", help="answer in JSON, for programs")
        parser.error = self._refuse  # type: ignore[method-assign]

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        try:
            use_environment(self.settings)
        except BadInput as error:
            self._complain(str(error))
            sys.exit(2)
        super().process_options(args, opts)  # type: ignore[misc]
        protect(self.settings)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        try:
            *operands, where = self._arguments(args, opts.redis)
            source = source_of(where, self.settings, opts.crawl)
            self.exitcode = self.answer(operands, source, opts)
            sys.stdout.flush()
        except BadInput as error:
            self._complain(str(error))
            self.exitcode = 2
        except BrokenPipeError:
            # Whoever read it has seen enough.
            abandon_standard_output()
        except OSError as error:
            self._complain(f"can't write the answer: {error.strerror}")
            self.exitcode = 1
        except KeyboardInterrupt:
            self.exitcode = INTERRUPTED

    def _arguments(self, args: list[str], redis: str | None) -> list[str]:
        """The operands, and where the crawl is."""
        assert self.settings is not None
        names = self.operands
        check_known(args, (*self.options, "--redis", "--crawl"))
        if len(args) > len(names) + (redis is None):
            raise BadInput(f"unknown argument {args[-1]!r}; give {self.syntax()}")
        if redis is not None:
            check_address("--redis", redis)
        where = redis or source_in(self.settings)
        if len(args) == len(names) == 1 and not where and is_address(args[0]):
            raise BadArgument(names[0], f"missing: give {self.syntax()}")
        if where and len(args) == len(names):
            args = [*args, where]
        elif len(args) == 2 and is_address(args[0]):
            # Nobody crawls a Redis, so it is clear which is which.
            args = args[::-1]
        for name, value in zip((*names, "CRAWLDIR"), [*args, "", ""], strict=False):
            if not value:
                raise BadArgument(name, f"missing: give {self.syntax()}")
        return args

    def _written(self, path: Path, write: Callable[[IO[bytes]], object]) -> bool:
        """Replace a file: whether that could be done. Why not is told."""
        try:
            with replaced(path) as file:
                write(file)
        except BadOutput as error:
            self._complain(str(error))
            return False
        except OSError as error:
            self._complain(f"can't write {str(path)!r}: {error.strerror}")
            return False
        return True

    def _complain(self, message: str) -> None:
        complain(message, self.name)

    def _refuse(self, message: str) -> NoReturn:
        self._complain(message)
        sys.exit(2)


def check_known(args: list[str], options: tuple[str, ...]) -> None:
    """Raise BadInput for an option among the arguments: nobody knows it."""
    for arg in args:
        if arg.startswith("-"):
            nearest = get_close_matches(arg.partition("=")[0], options, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else "--help lists the options"
            raise BadInput(f"unknown option {arg!r}; {hint}")


def add_source_options(parser: argparse.ArgumentParser) -> None:
    """What says where a crawl is, beside CRAWLDIR."""
    parser.add_argument("--redis", metavar="URL", help="a shared crawl's Redis, for CRAWLDIR")
    parser.add_argument(
        "--crawl", metavar="ID", help="which crawl, if several are there (FRONTIER_CRAWL_ID)"
    )


def source_in(settings: BaseSettings) -> str | None:
    """Where the crawl is, by the settings with which it was started."""
    where = settings["REDIS_URL"] or settings["JOBDIR"]
    return str(where) if where else None


def write_json(value: Any) -> None:
    standard_output(is_json=True).write(json_encoder("utf-8", indent=2)(value) + b"\n")
