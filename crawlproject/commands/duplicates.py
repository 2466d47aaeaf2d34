"""``scrapy duplicates CRAWLDIR``: which pages have the same body, or almost the same text.

The signatures of all pages are in the crawl directory, so another ``--threshold`` needs no
request. A cluster is a page and its duplicates; the first is the one that comes first, breadth
first. Keys of the JSON and columns of the CSV: ``first``, ``url``, ``similarity`` (1 where the
body is the same), ``kind`` (exact, near).
"""

from __future__ import annotations

import csv
import io
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from scrapy.commands import ScrapyCommand

from crawlproject.commands.inquiry import Inquiry, write_json
from crawlproject.commands.sheet import Sheet
from crawlproject.errors import BadArgument
from crawlproject.exports.cells import cell
from crawlproject.frontier.reading import Reader
from crawlproject.monitoring.streams import standard_output
from crawlproject.pipelines.clusters import duplicates
from crawlproject.pipelines.parameters import NOTE, SignatureParameters
from crawlproject.spiders.values import part

if TYPE_CHECKING:
    import argparse

    from crawlproject.frontier.source import Source

COLUMNS = ("first", "url", "kind", "similarity")
# Clusters, and pages of each, that a table shows.
_SHOWN_CLUSTERS = 50
_SHOWN_PAGES = 20


class Duplicate(NamedTuple):
    first: str
    url: str
    kind: str
    similarity: float


class Command(Inquiry, ScrapyCommand):
    name = "duplicates"
    options: ClassVar[tuple[str, ...]] = ("--json", "--csv", "--threshold")

    def short_desc(self) -> str:
        return "List the pages of a crawl that are duplicates or near-duplicates of others"

    def long_desc(self) -> str:
        return (
            "List the pages that have the same body as another, or almost the same main text, by "
            "clusters; the first page of each is the nearest to a seed. "
            "CRAWLDIR is the JOBDIR of a crawl, which may be running, or redis://… "
            "Exit status: 0, 2 for bad arguments."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--csv", action="store_true", help="answer in CSV, a row a duplicate")
        parser.add_argument(
            "--threshold",
            metavar="PART",
            help="how much of the text is the same, from 0.1 to 1 (DUPLICATES_THRESHOLD: 0.85)",
        )

    def answer(self, operands: list[str], source: Source, opts: argparse.Namespace) -> int:
        assert self.settings is not None
        if opts.json and opts.csv:
            raise BadArgument("--csv", "goes not together with --json: give one of them")
        if opts.threshold is None:
            threshold = part("DUPLICATES_THRESHOLD", self.settings["DUPLICATES_THRESHOLD"])
        else:
            threshold = part("--threshold", opts.threshold)
        with source.opened() as database:
            reader = Reader(database)
            parameters = SignatureParameters.from_note(reader.note(NOTE))
            found = [] if parameters is None else _found(reader, threshold, parameters)
        if opts.json:
            _write_json(found, threshold)
        elif opts.csv:
            _write_csv(found)
        else:
            _write_table(found, threshold, is_noted=parameters is not None)
        return 0


def _found(reader: Reader, threshold: float, parameters: SignatureParameters) -> list[Duplicate]:
    """Clusters by the place of their first page, and so the pages in them: breadth first."""
    marks = sorted(
        duplicates(reader.database, threshold=threshold, signatures=parameters.signatures()),
        key=lambda mark: (reader.place_of(mark.of), reader.place_of(mark.page)),
    )
    return [
        Duplicate(
            reader.url_of(mark.of),
            reader.url_of(mark.page),
            "exact" if mark.similarity is None else "near",
            1.0 if mark.similarity is None else round(mark.similarity, 3),
        )
        for mark in marks
    ]


def _write_json(found: list[Duplicate], threshold: float) -> None:
    clusters = [
        {
            "first": first,
            "duplicates": [
                {"url": one.url, "kind": one.kind, "similarity": one.similarity} for one in same
            ],
        }
        for first, same in groupby(found, key=attrgetter("first"))
    ]
    write_json({"threshold": threshold, "clusters": clusters})


def _write_csv(found: list[Duplicate]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerows([cell(value) for value in one] for one in found)
    standard_output().write(text.getvalue().encode("utf-8", "replace"))


def _write_table(found: list[Duplicate], threshold: float, *, is_noted: bool) -> None:
    sheet = Sheet()
    exact = sum(one.kind == "exact" for one in found)
    near = len(found) - exact
    clusters = [list(same) for _, same in groupby(found, key=attrgetter("first"))]
    if not is_noted:
        sheet.say("Pages were not compared in this crawl (DUPLICATES_ENABLED was off).")
    elif not found:
        sheet.say(f"No page is a duplicate of another (threshold {threshold:g}).")
    else:
        said = count(exact, near)
        sheet.say(f"{_times(len(clusters), 'cluster')}: {said} (threshold {threshold:g}).")
    for same in clusters[:_SHOWN_CLUSTERS]:
        rows = [("same" if one.kind == "exact" else _percent(one), one.url) for one in same]
        sheet.table(same[0].first, "rl", (), rows[:_SHOWN_PAGES], len(rows) - _SHOWN_PAGES)
    if len(clusters) > _SHOWN_CLUSTERS:
        sheet.say(f"And {_times(len(clusters) - _SHOWN_CLUSTERS, 'more cluster')}: --csv has all.")
    sheet.write()


def count(exact: int, near: int) -> str:
    if not exact:
        return f"{_times(near, 'page')} with almost the text of another"
    more = f", {near:,} with almost the text of one" if near else ""
    return f"{_times(exact, 'page')} with the body of another{more}"


def _percent(one: Duplicate) -> str:
    return f"{100 * one.similarity:.1f} %"


def _times(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
