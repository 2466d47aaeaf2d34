"""What the commands that look into a crawl directory share: arguments, errors, a moment in time.

| exit status | meaning |
|---|---|
| 0 | answered |
| 1 | ``why``: the URL was never seen; ``page``: no such page, or no body of it |
| | ``skipped``: the output could not be written |
| 2 | bad arguments, or no crawl directory that can be read |
"""

from __future__ import annotations

import os
import sqlite3
import sys
from abc import ABC, abstractmethod
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from crawlproject.commands.crawl import complain
from crawlproject.errors import BadArgument, BadCrawlDirectory, BadInput
from crawlproject.frontier.looking import reading
from crawlproject.records import json_encoder

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy.settings import Settings

_INTERRUPTED = 130


class Inquiry(ABC):
    """Comes before ScrapyCommand among a command's bases.

    It is none itself: Scrapy takes every command class in this folder for a command.
    """

    name: ClassVar[str]
    # The positional arguments before CRAWLDIR.
    operands: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[tuple[str, ...]] = ("--json",)
    requires_crawler_process = False
    exitcode = 0
    settings: Settings | None

    @abstractmethod
    def answer(self, operands: list[str], folder: Path, opts: argparse.Namespace) -> int:
        """Answer on standard output; the exit status."""

    def syntax(self) -> str:
        return " ".join((*self.operands, "CRAWLDIR", "[options]"))

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)  # type: ignore[misc]
        parser.add_argument("--json", action="store_true", help="answer in JSON, for programs")
        parser.error = self._refuse  # type: ignore[method-assign]

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            *operands, directory = self._arguments(args)
            self.exitcode = self.answer(operands, Path(directory), opts)
            sys.stdout.flush()
        except BadInput as error:
            self._complain(str(error))
            self.exitcode = 2
        except BrokenPipeError:
            # Whoever read it has seen enough. What is still buffered has nowhere to go.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            self._complain(f"can't write the answer: {error.strerror}")
            self.exitcode = 1
        except KeyboardInterrupt:
            self.exitcode = _INTERRUPTED

    def _arguments(self, args: list[str]) -> list[str]:
        """The operands and the directory, which may be the setting JOBDIR instead."""
        assert self.settings is not None
        for arg in args:
            if arg.startswith("-"):
                nearest = get_close_matches(arg.partition("=")[0], self.options, n=1)
                hint = f"did you mean {nearest[0]}?" if nearest else "--help lists the options"
                raise BadInput(f"unknown option {arg!r}; {hint}")
        if len(args) > len(self.operands) + 1:
            raise BadInput(f"unknown argument {args[-1]!r}; give {self.syntax()}")
        jobdir = self.settings["JOBDIR"]
        if jobdir and len(args) == len(self.operands):
            args = [*args, str(jobdir)]
        for name, value in zip((*self.operands, "CRAWLDIR"), [*args, "", ""], strict=False):
            if not value:
                raise BadArgument(name, f"missing: give {self.syntax()}")
        return args

    def _complain(self, message: str) -> None:
        complain(message, self.name)

    def _refuse(self, message: str) -> NoReturn:
        self._complain(message)
        sys.exit(2)


@contextmanager
def opened(folder: Path) -> Iterator[sqlite3.Connection]:
    """The crawl in a directory as it was at one moment. Raises BadCrawlDirectory."""
    with reading(folder) as database:
        try:
            database.execute("BEGIN")
            yield database
        except sqlite3.Error as error:
            raise BadCrawlDirectory(f"can't read {str(folder)!r}: {error}") from None


def write_json(value: Any) -> None:
    sys.stdout.buffer.write(json_encoder("utf-8", indent=2)(value) + b"\n")
