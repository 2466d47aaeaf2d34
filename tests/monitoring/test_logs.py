from __future__ import annotations

import io
import logging
from typing import TYPE_CHECKING

import pytest
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawlproject.monitoring.logs import SparingLogFormatter
from crawlproject.redaction import CleanRecord, protect

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize(("level", "makes_lines"), [("DEBUG", True), ("INFO", False), (30, False)])
def test_lines_for_every_page_are_made_only_when_they_are_read(
    level: str | int, makes_lines: bool
) -> None:
    formatter = SparingLogFormatter.from_crawler(get_crawler(settings_dict={"LOG_LEVEL": level}))
    request = Request("https://example.com/")
    response = Response(request.url, request=request)
    spider = Spider("test")
    assert (formatter.crawled(request, response, spider) is not None) == makes_lines
    assert (formatter.scraped({}, response, spider) is not None) == makes_lines


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What a handler of somebody else's writes, which was there before."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    before = logging.getLogRecordFactory()
    logging.getLogger("other.library").addHandler(handler)
    protect({})
    yield stream
    logging.getLogger("other.library").removeHandler(handler)
    logging.setLogRecordFactory(before)


ESCAPES = "\x1b]0;x\x07 \x9b31m \r \u202e \ud800 é"


def test_no_log_line_acts_on_a_terminal(log: io.StringIO) -> None:
    logger = logging.getLogger("other.library")
    logger.warning(f"as text: {ESCAPES}")
    logger.warning("as an argument: %s %(x)s", {"x": ESCAPES})
    logger.warning("bytes: %r, lines:\n\t%s", b"\x1b", "a\nb")
    try:
        raise ValueError(ESCAPES)
    except ValueError:
        logger.exception("trace")
    safe = "\ufffd]0;x\ufffd \ufffd31m \ufffd \ufffd \ufffd é"
    lines = log.getvalue().split("\n")
    assert lines[0] == f"WARNING: as text: {safe}"
    assert safe in lines[1]
    assert lines[2:5] == [r"WARNING: bytes: b'\x1b', lines:", "\ta", "b"]
    assert lines[-2] == f"ValueError: {safe}"


def test_what_is_safe_is_left_as_it_is() -> None:
    record = CleanRecord("x", 20, "p", 1, "%s of %d", ("a", 2), None)
    assert (record.msg, record.args, record.getMessage()) == ("%s of %d", ("a", 2), "a of 2")
    # Its handler says what is wrong with this one.
    assert CleanRecord("x", 20, "p", 1, "%d", ("a",), None).args == ("a",)


def test_records_are_made_safe_once(log: io.StringIO) -> None:
    assert logging.getLogRecordFactory() is CleanRecord
    protect({})
    assert logging.getLogRecordFactory() is CleanRecord
