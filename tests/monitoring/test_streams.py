from __future__ import annotations

import io
import os

import pytest

from crawlproject.monitoring.streams import is_terminal, visible, writes_to_stdout


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
