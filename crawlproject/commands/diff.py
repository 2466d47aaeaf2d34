"""``scrapy diff A B``: what has changed between two crawls.

Each is a crawl directory, the address of a shared crawl, or a file that was written of one:
``sitemap.json`` in any layout, or lines of pages. ``report/diff/`` compares them.

| exit status | meaning |
|---|---|
| 0 | no differences, but for those that are ignored |
| 1 | differences |
| 2 | bad arguments, what can't be read, or an output that can't be written |
| 130 | interrupted |
"""

from __future__ import annotations

import sys
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn

from scrapy.commands import ScrapyCommand

from crawlproject.commands.crawl import complain, less_garbage_collection
from crawlproject.commands.differences import draw
from crawlproject.commands.environment import use_environment
from crawlproject.commands.inquiry import INTERRUPTED, check_known
from crawlproject.errors import BadArgument, BadInput, BadOutput
from crawlproject.exports.storage import replaced
from crawlproject.frontier.redis.address import is_address
from crawlproject.monitoring.streams import abandon_standard_output, standard_output, tell
from crawlproject.redaction import protect
from crawlproject.report.diff.fields import FIELDS, KINDS, chosen, ignored
from crawlproject.report.diff.words import headline

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from crawlproject.report.diff.comparison import Comparison

    Write = Callable[[Comparison, IO[bytes]], None]

_SYNTAX = "A B [options]"
_OPTIONS = ("--json", "--csv", "--output", "--ignore", "--only", "--crawl")
_COSMETIC = "cosmetic: content, where the text is almost the same"
_DIFFERENT, _TROUBLE = 1, 2


class Command(ScrapyCommand):
    name = "diff"
    requires_crawler_process = False

    def syntax(self) -> str:
        return _SYNTAX

    def short_desc(self) -> str:
        return "Tell what has changed between two crawls"

    def long_desc(self) -> str:
        return (
            "Tell what has changed between two crawls: pages that were added, removed, changed or "
            "moved. A and B are each the JOBDIR of a crawl, which may be running, redis://…, a "
            "sitemap.json, or a .jsonl file of pages. "
            "Exit status: 0 no differences, 1 differences, 2 bad arguments or files."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="answer in JSON, for programs")
        parser.add_argument(
            "--csv", action="store_true", help="answer in CSV, a row for each URL and field"
        )
        for names, metavar, help_ in (
            (("-o", "--output"), "FILE", "write to FILE.html, .json or .csv, replacing it"),
            (("--ignore",), "FIELD", f"don't compare {', '.join(FIELDS)}; or {_COSMETIC}"),
            (("--only",), "KIND", f"tell only what was {', '.join(KINDS)}"),
            (("--crawl",), "ID", "which crawl, if several are in a Redis; the first for A"),
        ):
            parser.add_argument(
                *names, metavar=metavar, action="append", default=[], help=f"{help_} (repeatable)"
            )
        parser.error = self._refuse  # type: ignore[method-assign]

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        try:
            use_environment(self.settings)
        except BadInput as error:
            complain(str(error), self.name)
            sys.exit(_TROUBLE)
        super().process_options(args, opts)
        protect(self.settings)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            with less_garbage_collection():
                self._answer(args, opts)
            sys.stdout.flush()
        except BadInput as error:
            complain(str(error), self.name)
            self.exitcode = _TROUBLE
        except BrokenPipeError:
            # Whoever read it has seen enough.
            abandon_standard_output()
        except OSError as error:
            complain(f"can't write the answer: {error.strerror}", self.name)
            self.exitcode = _TROUBLE
        except KeyboardInterrupt:
            self.exitcode = INTERRUPTED

    def _answer(self, args: list[str], opts: argparse.Namespace) -> None:
        # Scrapy imports all commands for each: what only one needs is imported when it runs.
        from crawlproject.report.diff.comparison import compare
        from crawlproject.report.diff.facts import Reduced
        from crawlproject.report.diff.opening import opened

        assert self.settings is not None
        before, after = _operands(args)
        if opts.json and opts.csv:
            raise BadArgument("--csv", "goes not together with --json: give one of them")
        left_out, only = ignored(opts.ignore), chosen(opts.only)
        writers = {name: _writer(name, (before, after)) for name in opts.output}
        crawls = iter(opts.crawl)
        with ExitStack() as stack:
            # Whether they can be written is known before the work begins.
            outputs = stack.enter_context(ExitStack())
            files = [(outputs.enter_context(_output(name)), writers[name]) for name in writers]
            old, new = (
                stack.enter_context(
                    opened(
                        *(where, self.settings, Reduced(left_out)),
                        next(crawls, None) if is_address(where) else None,
                    )
                )
                for where in (before, after)
            )
            comparison = stack.enter_context(closing(compare(old, new, left_out, only)))
            self.exitcode = _DIFFERENT if comparison.findings else 0
            for file, write in files:
                write(comparison, file)
            outputs.close()
            if opts.json or opts.csv:
                write = _formats()["json" if opts.json else "csv"]
                write(comparison, standard_output(is_json=opts.json))
            elif files:
                tell(headline(comparison))
            else:
                draw(comparison)

    def _refuse(self, message: str) -> NoReturn:
        complain(message, self.name)
        sys.exit(_TROUBLE)


def _operands(args: list[str]) -> tuple[str, str]:
    check_known(args, _OPTIONS)
    for arg in args[2:]:
        raise BadInput(f"unknown argument {arg!r}; give {_SYNTAX}")
    for name, value in zip("AB", [*args, "", ""], strict=False):
        if not value:
            raise BadArgument(name, f"missing: give {_SYNTAX}")
    return args[0], args[1]


def _formats() -> dict[str, Write]:
    from crawlproject.report.diff.as_csv import write_csv
    from crawlproject.report.diff.as_html import write_html
    from crawlproject.report.diff.as_json import write_json

    return {"json": write_json, "csv": write_csv, "html": write_html}


def _writer(name: str, compared: tuple[str, str]) -> Write:
    path = Path(name)
    write = _formats().get(path.suffix[1:].lower())
    if write is None:
        raise BadOutput(f"can't write {name!r}: give the file the extension .html, .json or .csv")
    if path.is_file() and any(Path(one).is_file() and path.samefile(one) for one in compared):
        raise BadOutput(f"can't write {name!r}: it is one of the two that are compared")
    return write


@contextmanager
def _output(name: str) -> Iterator[IO[bytes]]:
    try:
        with replaced(Path(name)) as file:
            yield file
    except OSError as error:
        raise BadOutput(f"can't write {name!r}: {error.strerror}") from None
