"""The live line on a real pseudo-terminal, around real crawls without a network."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

import pytest
from rich.console import Console
from scrapy import Spider
from scrapy.exceptions import NotConfigured
from scrapy.extensions.corestats import CoreStats
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.log import (
    _uninstall_scrapy_root_handler,
    get_scrapy_root_handler,
    install_scrapy_root_handler,
)
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from crawlproject.items import Page
from crawlproject.monitoring.counting import Counting
from crawlproject.monitoring.progress import Progress

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from crawlproject.monitoring.line import State

SETTINGS: dict[str, Any] = {
    "EXTENSIONS": {Counting: 0, CoreStats: None, Progress: 200},
    "MONITORING_PROGRESS": True,
    "LOG_ENABLED": True,
    "LOG_LEVEL": "WARNING",
}


class Terminal:
    """A pseudo-terminal: what is written to ``stream`` can be read as a terminal sees it."""

    def __init__(self, encoding: str) -> None:
        self._master, slave = os.openpty()
        self.stream: IO[str] = os.fdopen(slave, "w", encoding=encoding)
        self.encoding = encoding

    def shown(self) -> str:
        self.stream.flush()
        os.set_blocking(self._master, False)
        chunks = []
        try:
            while chunk := os.read(self._master, 65_536):
                chunks.append(chunk)
        except BlockingIOError:
            pass
        return b"".join(chunks).decode(self.encoding)

    @contextmanager
    def as_stderr(self) -> Iterator[None]:
        # Not by a fixture: pytest's capturing puts its own streams in after the set-up.
        before, sys.stderr = sys.stderr, self.stream
        try:
            yield
            assert sys.stderr is self.stream
        finally:
            sys.stderr = before

    def hang_up(self) -> None:
        os.close(self._master)
        self._master = os.open(os.devnull, os.O_RDONLY)

    def close(self) -> None:
        with suppress(OSError):
            self.stream.close()
        os.close(self._master)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Terminal]:
    monkeypatch.setenv("TERM", "xterm")
    for name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    terminal = Terminal(getattr(request, "param", "utf-8"))
    yield terminal
    terminal.close()


@contextmanager
def scrapys_log() -> Iterator[None]:
    """Scrapy's own log handler, as ``scrapy crawl`` installs it; each crawl renews it."""
    level = logging.root.level
    install_scrapy_root_handler(Settings(SETTINGS))
    try:
        yield
    finally:
        _uninstall_scrapy_root_handler()
        logging.root.setLevel(level)


def is_configured(**settings: Any) -> bool:
    crawler = get_crawler(settings_dict={**SETTINGS, **settings, "EXTENSIONS": {}})
    try:
        build_from_crawler(Progress, crawler)
    except NotConfigured:
        return False
    return True


class PagesSpider(Spider):
    name = "pages"

    async def start(self) -> AsyncIterator[Any]:
        yield Page("https://example.com/", 200)
        yield Page("https://example.com/a", 200, 3)
        if progress := self.crawler.get_extension(Progress):
            progress.draw()
        self.logger.warning("a warning of %s end", "more than eighty columns " * 5)


@pytest.mark.parametrize("name", ["MONITORING_PROGRESS", "LOG_ENABLED"])
def test_a_setting_turns_it_off(terminal: Terminal, name: str) -> None:
    with terminal.as_stderr():
        assert is_configured()
        assert not is_configured(**{name: False})


def test_it_is_off_where_nobody_looks_without_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG):
        assert not is_configured()
    said = [record for record in caplog.records if "No live line" in record.message]
    assert [record.levelname for record in said] == ["DEBUG"]
    assert "standard error is no terminal" in said[0].message


def test_it_is_off_on_a_terminal_that_cannot_erase(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with terminal.as_stderr():
        assert not is_configured()


def test_it_is_off_where_a_feed_goes_to_the_same_terminal(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    feeds = {"stdout:": {"format": "json"}}
    with terminal.as_stderr():
        assert is_configured(FEEDS=feeds)
        monkeypatch.setattr(sys, "stdout", terminal.stream)
        assert not is_configured(FEEDS=feeds)


@deferred_f_from_coro_f
async def test_the_line_is_drawn_and_erased(terminal: Terminal) -> None:
    with terminal.as_stderr():
        await get_crawler(PagesSpider, SETTINGS).crawl_async()
    shown = terminal.shown()
    assert "writing files… · 2 pages · 0 queued · 0 failed" in shown
    assert "depth 3 · 0:00" in shown
    # The speed counts from the start.
    assert "2 pages · 0 queued · 0 failed · 0.0 pages/s" not in shown
    # Erased with the last move, and the cursor is to be seen.
    assert shown.endswith("\x1b[1A\x1b[2K")
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")


@pytest.mark.parametrize("terminal", ["ascii"], indirect=True)
@deferred_f_from_coro_f
async def test_a_terminal_without_utf_8_gets_ascii(terminal: Terminal) -> None:
    with terminal.as_stderr():
        await get_crawler(PagesSpider, SETTINGS).crawl_async()
    assert "writing files... | 2 pages | 0 queued" in terminal.shown()


@deferred_f_from_coro_f
async def test_log_lines_stay_whole_and_all_streams_are_put_back(terminal: Terminal) -> None:
    stdout = sys.stdout
    with terminal.as_stderr(), scrapys_log():
        await get_crawler(PagesSpider, SETTINGS).crawl_async()
        handler = get_scrapy_root_handler()
        assert isinstance(handler, logging.StreamHandler)
        assert handler.stream is terminal.stream
    lines = [line for line in terminal.shown().splitlines() if "WARNING" in line]
    assert len(lines) == 1
    assert "pages/s" not in lines[0]
    assert lines[0].endswith(f"a warning of {'more than eighty columns ' * 5} end")
    assert sys.stdout is stdout


@deferred_f_from_coro_f
async def test_the_line_says_when_the_crawl_is_stopping(terminal: Terminal) -> None:
    states: list[State] = []

    class StoppedSpider(PagesSpider):
        async def start(self) -> AsyncIterator[Any]:
            progress = self.crawler.get_extension(Progress)
            assert progress is not None
            yield Page("https://example.com/", 200)
            states.append(progress.state())
            # A task of its own, because stopping cancels this one.
            self.stopping = asyncio.ensure_future(self.crawler.stop_async())
            try:
                await asyncio.Event().wait()
            finally:
                states.append(progress.state())

    with terminal.as_stderr():
        await get_crawler(StoppedSpider, SETTINGS).crawl_async()
    assert [state.phase for state in states] == [None, "stopping"]


@deferred_f_from_coro_f
async def test_the_line_says_when_the_time_is_up(terminal: Terminal) -> None:
    states: list[State] = []
    now = 0.0

    class LongSpider(PagesSpider):
        async def start(self) -> AsyncIterator[Any]:
            nonlocal now
            progress = Progress(
                self.crawler, Console(file=sys.stderr), time_limit=90.0, clock=lambda: now
            )
            for moment in (89.0, 90.0):
                now = moment
                states.append(progress.state())
            yield Page("https://example.com/", 200)

    await get_crawler(LongSpider).crawl_async()
    assert [state.phase for state in states] == [None, "stopping"]


@deferred_f_from_coro_f
async def test_of_two_crawls_at_a_time_one_draws(terminal: Terminal) -> None:
    with terminal.as_stderr():
        crawlers = [get_crawler(PagesSpider, SETTINGS) for _ in range(2)]
        await asyncio.gather(*(crawler.crawl_async() for crawler in crawlers))
    # Each line begins with the cursor hidden.
    assert terminal.shown().count("\x1b[?25l") == 1


@deferred_f_from_coro_f
async def test_a_terminal_that_is_gone_does_not_disturb_the_crawl(
    terminal: Terminal, caplog: pytest.LogCaptureFixture
) -> None:
    class WatchedSpider(PagesSpider):
        async def start(self) -> AsyncIterator[Any]:
            terminal.hang_up()
            async for page in super().start():
                yield page

    with terminal.as_stderr():
        crawler = get_crawler(WatchedSpider, SETTINGS)
        await crawler.crawl_async()
    assert crawler.stats.get_value("item_scraped_count") == 2
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
