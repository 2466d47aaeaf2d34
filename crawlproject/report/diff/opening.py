"""What the user names, as a side that can be read: a crawl, or a file."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from crawlproject.errors import BadInput
from crawlproject.frontier.redis.address import is_address
from crawlproject.frontier.source import source_of
from crawlproject.report.diff.crawls import CrawlSide
from crawlproject.report.diff.files import RIGHT, FileSide

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from crawlproject.report.diff.facts import Reduced
    from crawlproject.report.diff.sides import Side


@contextmanager
def opened(
    where: str, settings: BaseSettings, reduced: Reduced, crawl: str | None = None
) -> Iterator[Side]:
    """Raises BadInput. ``crawl`` is the id of one in Redis."""
    if not is_address(where) and _is_file(Path(where)):
        yield FileSide(Path(where), reduced)
        return
    source = source_of(where, settings, crawl)
    with source.opened() as database:
        yield CrawlSide(source.name, database, reduced, settings)


def _is_file(path: Path) -> bool:
    """Whether it is a file, or a pipe, and no directory. Raises BadInput where nothing is."""
    try:
        is_there = path.exists()
    except OSError as error:
        raise BadInput(f"can't read {str(path)!r}: {error.strerror}") from None
    if not is_there:
        raise BadInput(f"there is no {str(path)!r}: {RIGHT}")
    return not path.is_dir()
