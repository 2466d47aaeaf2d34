from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from crawlproject.frontier.base import Counts
from crawlproject.items import Page
from crawlproject.monitoring.ending import Ending, File, Limits
from crawlproject.monitoring.tables import draw
from crawlproject.monitoring.tally import Tally

SITE = "https://example.com"


def plain(ending: Ending, width: int = 80, **options: Any) -> str:
    return draw(ending, Console(file=io.StringIO(), width=width, **options))


def terminal(ending: Ending, width: int = 80, color_system: Any = None) -> str:
    return plain(
        ending, width, force_terminal=True, color_system=color_system, _environ={"TERM": "xterm"}
    )


def ending_of(*pages: Page, **more: Any) -> Ending:
    tally = Tally()
    for page in pages:
        tally.add(page)
    broken, blocked = list(tally.first_broken), list(tally.first_blocked)
    return Ending([f"{SITE}/"], tally=tally, broken=broken, blocked=blocked, **more)


GOLDEN = """
Crawled 6 pages of https://example.com/ in 1.5 s: 3 fine, 2 broken, 1 denied by robots.txt.
2.0 kB, 4.0 pages/s.
Half of the answers took 10 ms or less, 90 % 1,200 ms, 99 % 1,200 ms.

Answers                Links from a seed
  200  OK         3      0  1  ██████
  404  Not Found  1      1  4  ████████████████████████
    -  robots     1      2  1  ██████
    -  timeout    1

Slowest pages
  1,200 ms  https://example.com/slow
     10 ms  https://example.com/

Broken pages
  404  https://example.com/gone
       linked from https://example.com/
    -  https://example.com/hangs
       timeout; linked from https://example.com/

Skipped URLs, and what lets them in
  212  deeper than 16 links (depth=16)  -a depth=N, or depth=none
    1  on other hosts                   -a scope=domain, or allow=HOST

Files
  out/site.json (6 pages)
  pages.csv (not complete: see the log)
"""


def example() -> Ending:
    return ending_of(
        Page(f"{SITE}/", 200, 0, fetch_ms=10, bytes=1_000),
        Page(f"{SITE}/slow", 200, 1, fetch_ms=1_200, bytes=500),
        Page(f"{SITE}/a", 200, 2, bytes=500),
        Page(f"{SITE}/gone", 404, 1, error="unexpected status 404", referrer=f"{SITE}/"),
        Page(f"{SITE}/hangs", None, 1, error="timeout", referrer=f"{SITE}/"),
        Page(f"{SITE}/private", None, 1, error="robots", referrer=f"{SITE}/"),
        seconds=1.5,
        depths={0: 1, 1: 4, 2: 1},
        counts=Counts(skipped={"offsite": 1, "depth": 212}),
        files=[
            File("out/site.json", "6 pages"),
            File("pages.csv", "not complete: see the log", is_complete=False),
        ],
        limits=Limits(depth=16),
    )


def test_a_file_gets_plain_text() -> None:
    assert plain(example()) == GOLDEN


def test_blocked_pages_are_told_apart_from_broken_ones() -> None:
    page = Page(f"{SITE}/vault", 403, 1, error="unexpected status 403", referrer=f"{SITE}/")
    text = plain(ending_of(Page(f"{SITE}/", 200), page))
    assert ": 1 fine, 1 blocked.\n" in text
    assert "Blocked pages\n  403  https://example.com/vault\n       linked from" in text
    assert "Broken" not in text


def test_a_terminal_gets_the_same_words() -> None:
    assert terminal(example()).split() == GOLDEN.split()
    assert "\x1b[" in terminal(example(), color_system="standard")


def test_a_dumb_terminal_gets_no_colours() -> None:
    drawn = plain(example(), force_terminal=True, _environ={"TERM": "dumb"})
    assert "\x1b" not in drawn


@pytest.mark.parametrize("width", [20, 40, 60, 75, 76, 80, 200])
def test_a_terminal_of_any_width_is_not_overrun(width: int) -> None:
    drawn = terminal(example(), width)
    assert max(map(len, drawn.splitlines())) <= width
    if width >= 40:
        assert f"{SITE}/slow" in "".join(drawn.split())


def test_a_long_url_folds_under_itself_on_a_terminal() -> None:
    url = f"{SITE}/{'x' * 100}"
    drawn = terminal(ending_of(Page(url, 404, error="unexpected status 404")))
    first = next(line for line in drawn.splitlines() if line.startswith("  404  https"))
    rest = drawn.splitlines()[drawn.splitlines().index(first) + 1]
    assert len(first) == 80
    assert first.removeprefix("  404  ") + rest.removeprefix("       ") == url


def test_a_long_url_stays_on_one_line_of_a_file() -> None:
    url = f"{SITE}/{'x' * 3_000}"
    drawn = plain(ending_of(Page(url, 404, error="unexpected status 404", referrer=url)))
    assert f"  404  {url}\n       linked from {url}\n" in drawn


def test_an_endless_url_does_not_fill_the_terminal() -> None:
    drawn = terminal(ending_of(Page(f"{SITE}/{'x' * 100_000}", 200, fetch_ms=1)))
    assert "…" in drawn
    assert len(drawn.splitlines()) < 20


MARKUP = "[bold red]x[/] [link=http://evil]y[/link] :smile: "
HOSTILE = f"{SITE}/{MARKUP}\x1b[31m\x1b]8;;evil\x07\u202e\r\n\x00"


@pytest.mark.parametrize("draw_on", [plain, terminal])
def test_what_a_site_says_is_shown_and_not_obeyed(draw_on: Any) -> None:
    ending = ending_of(
        Page(HOSTILE, None, error=f"failed: {HOSTILE}", referrer=HOSTILE, fetch_ms=3),
        counts=Counts(skipped={HOSTILE: 1}),
        files=[File(HOSTILE, "1 page")],
    )
    ending.subject = [HOSTILE]
    ending.reason = HOSTILE
    drawn = draw_on(ending, width=1_000)
    assert all(char.isprintable() or char == "\n" for char in drawn)
    assert drawn.count(MARKUP) == 8


def test_a_stream_without_utf_8_gets_ascii() -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    ending = ending_of(Page(f"{SITE}/\x1b", 200, fetch_ms=1), depths={0: 1})
    drawn = draw(ending, Console(file=file, width=80))
    assert drawn.isascii()
    assert "#" * 24 in drawn


def test_broken_pages_beyond_the_first_are_counted() -> None:
    pages = (Page(f"{SITE}/{n:03}", None, error="dns") for n in range(40))
    drawn = plain(ending_of(*pages))
    assert f"{SITE}/014" in drawn
    assert f"{SITE}/015" not in drawn
    assert "     and 25 more\n" in drawn
    assert "dns; a seed" in drawn


def test_many_depths_statuses_and_files_are_summed_up() -> None:
    drawn = plain(
        ending_of(
            *(Page(f"{SITE}/{n}", 600 + n) for n in range(100)),
            depths=dict.fromkeys(range(5_000), 10),
            files=[File(f"batch-{n}", "1 page") for n in range(30)],
        )
    )
    assert "  12-4999  49,880  ██" in drawn
    assert "others  80" in drawn
    assert "  and 10 more\n" in drawn
    assert len(drawn.splitlines()) < 70


@pytest.mark.parametrize("draw_on", [plain, terminal])
def test_rows_without_words_lose_nothing(draw_on: Any) -> None:
    reason = "a reason of our own"
    drawn = draw_on(ending_of(Page(SITE, 299), counts=Counts(skipped={reason: 1_234, "": 1})))
    assert f"  1,234  {reason}\n" in drawn
    assert "  299     1\n" in drawn


def test_a_crawl_without_pages_draws_no_empty_tables() -> None:
    assert plain(Ending([f"{SITE}/"], seconds=0.1)) == f"\nCrawled no page of {SITE}/ in 0.1 s.\n"


def test_nothing_is_written_to_the_consoles_own_file() -> None:
    file = io.StringIO()
    draw(example(), Console(file=file, width=80))
    assert file.getvalue() == ""
