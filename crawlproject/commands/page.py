"""``scrapy page CRAWLDIR URL``: a page as it was stored: what is known of it, headers, body.

Keys of ``--json``: ``asked``, ``url``, ``state`` (as in ``why``), ``page`` (the fields of the
page; ``outlinks`` is how many links it has), ``redirects_to``, ``stored`` (what the store keeps
of the answer: ``pipelines/stored.py``), ``body`` (stored, missing, or null: none is kept),
``near`` (of a URL that was never seen).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand

from crawlproject.commands.inquiry import Inquiry, write_json
from crawlproject.commands.leaf import draw
from crawlproject.commands.meant import is_directory, url_meant
from crawlproject.errors import BadArgument
from crawlproject.frontier.database import DATABASE
from crawlproject.frontier.redis.address import is_address
from crawlproject.monitoring.streams import standard_output
from crawlproject.pipelines.blobs import MissingBody, StoreError
from crawlproject.pipelines.kept import HOW_TO_STORE, body_of, leaf_of
from crawlproject.pipelines.places import Shelves
from crawlproject.urls.fingerprint import canonicalizer_from

if TYPE_CHECKING:
    import argparse

    from crawlproject.frontier.source import Source

Leaf = dict[str, Any]

STORED, MISSING = "stored", "missing"


class Command(Inquiry, ScrapyCommand):
    name = "page"
    operands: ClassVar[tuple[str, ...]] = ("URL",)
    options: ClassVar[tuple[str, ...]] = ("--json", "--body")

    def syntax(self) -> str:
        return "CRAWLDIR URL [options]"

    def short_desc(self) -> str:
        return "Print a page as a crawl has stored it"

    def long_desc(self) -> str:
        return (
            "Print what a crawl has kept of a page: when and how it was fetched, the headers of "
            "both sides, and with --body the body alone. A crawl keeps bodies and headers with "
            "-s STORE_BODIES=True. A path alone, such as /news/, is one of the seed's host. "
            "CRAWLDIR is the JOBDIR of a crawl, which may be running, or redis://… "
            "Exit status: 0; 1 when there is no such page, or no body of it; 2 bad arguments."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--body",
            action="store_true",
            help="write the body, byte by byte (to a terminal, as text), and nothing else",
        )

    def answer(self, operands: list[str], source: Source, opts: argparse.Namespace) -> int:
        assert self.settings is not None
        asked = operands[0]
        if is_directory(asked, source.folder):
            raise BadArgument("URL", f"{asked!r} is a directory: give {self.syntax()}")
        if opts.body and opts.json:
            raise BadArgument("--body", "is the body alone: leave out --json")
        shelves = Shelves(
            source.folder, self.settings["STORE_URI"], self.settings.getint("DOWNLOAD_MAXSIZE")
        )
        with source.questions() as questions:
            url = url_meant(asked, questions, canonicalizer_from(self.settings))
            leaf = leaf_of(questions, asked, url)
        if opts.body:
            return self._write_body(leaf, shelves)
        problem = _look_for_body(leaf, shelves)
        if opts.json:
            write_json(leaf)
        else:
            draw(leaf, problem, HOW_TO_STORE)
        return 1 if leaf["page"] is None else 0

    def _arguments(self, args: list[str], redis: str | None) -> list[str]:
        """Either order will do, as ``why`` has the other one."""
        if len(args) == 1 and _is_crawl(args[0]):
            raise BadArgument("URL", f"missing: give {self.syntax()}")
        is_swapped = len(args) == 2 and (
            _is_crawl(args[0])
            or ("://" in args[1] and "://" not in args[0] and not is_address(args[1]))
        )
        return super()._arguments(args[::-1] if is_swapped else args, redis)

    def _write_body(self, leaf: Leaf, shelves: Shelves) -> int:
        try:
            standard_output().write(body_of(leaf, shelves))
        except (MissingBody, StoreError) as error:
            self._complain(f"there is no body of {leaf['url']}: {error}")
            return 1
        return 0


def _is_crawl(text: str) -> bool:
    return "://" not in text and (Path(text) / DATABASE).exists()


def _look_for_body(leaf: Leaf, shelves: Shelves) -> str | None:
    """Note whether the body is there; why it is not, if it should be."""
    stored = leaf["stored"]
    if stored is None or stored["content_hash"] is None:
        return None
    leaf["body"] = MISSING
    try:
        blobs = shelves.blobs(stored["store"])
        if not blobs.has(stored["content_hash"], stored["body_bytes"]):
            return "it is gone, or damaged"
    except (MissingBody, StoreError) as error:
        return str(error)
    leaf["body"] = STORED
    return None
