from __future__ import annotations

import io
import os

import pytest

from crawlproject.monitoring.streams import is_terminal, writes_to_stdout
from crawlproject.printable import harmless, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://example.com/[bold]a[/bold]", "https://example.com/[bold]a[/bold]"),
        ("grün 日本", "grün 日本"),
        ("a\x1b[31mb", "a\ufffd[31mb"),
        ("a\x9b31mb", "a\ufffd31mb"),
        ("a\r\nb\tc\x07\x00", "a\ufffd\ufffdb\ufffdc\ufffd\ufffd"),
        ("gpj\u202e.exe", "gpj\ufffd.exe"),
        ("a\u2066b\u2069\u200b", "a\ufffdb\ufffd\ufffd"),
        ("a\u2028b\u0085", "a\ufffdb\ufffd"),
        ("lone \ud800", "lone \ufffd"),
        ("", ""),
    ],
)
def test_what_could_act_on_a_terminal_is_made_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


# Persian with a non-joiner, Hindi with a joiner, a family, and spaces of other widths.
MEANT = [
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "\u0915\u094d\u200d\u0937",
    "\U0001f469\u200d\U0001f467",
    "5\u202f000\u00a0km",
    "\u6771\u3000\u4eac",
]


@pytest.mark.parametrize("text", MEANT)
def test_letters_stay_joined_and_spaces_as_wide_as_they_are(text: str) -> None:
    assert visible(text) == text
    assert harmless(text) == text
    # Beside what is replaced, too.
    assert visible(f"{text}\x1b") == harmless(f"{text}\x1b") == f"{text}\ufffd"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>a & b</b>", "<b>a & b</b>"),
        ("a\x00b\x1b[31m\x7f\x9b\r\n\t", "a\ufffdb\ufffd[31m" + "\ufffd" * 5),
        ("\u202a\u202b\u202c\u202d\u202e", "\ufffd" * 5),
        ("\u2066\u2067\u2068\u2069", "\ufffd" * 4),
        ("\ud800\udfff", "\ufffd\ufffd"),
        # A page shows them, or shows nothing, as their site means it.
        ("soft\u00adly \u200e\u200f\u061c \u200b \ufeff", None),
    ],
)
def test_a_page_is_given_all_but_what_could_act_on_it(text: str, shown: str | None) -> None:
    assert harmless(text) == (text if shown is None else shown)


def test_the_mark_is_ascii_where_nothing_else_is_possible() -> None:
    assert visible("a\x1bb", ascii_only=True) == "a?b"


def test_only_a_terminal_is_a_terminal() -> None:
    closed = io.StringIO()
    closed.close()
    assert not is_terminal(None)
    assert not is_terminal(closed)
    assert not is_terminal(io.StringIO())
    master, slave = os.openpty()
    with os.fdopen(master), os.fdopen(slave, "w") as terminal:
        assert is_terminal(terminal)


@pytest.mark.parametrize(
    ("uris", "does"),
    [
        ([], False),
        (["a.json", "s3://bucket/-"], False),
        (["-"], True),
        (["a.json", "stdout:"], True),
        (["stdout://"], True),
    ],
)
def test_feeds_to_standard_output_are_recognised(uris: list[str], does: bool) -> None:
    assert writes_to_stdout(dict.fromkeys(uris)) is does
