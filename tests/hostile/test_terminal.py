"""What a site's text can do to a terminal: nothing, whichever command shows it."""

from __future__ import annotations

import io
import json
import os
import pkgutil
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import pytest
from rich.console import Console
from scrapy.cmdline import execute
from scrapy.commands import ScrapyCommand

import crawlproject.commands
from crawlproject.monitoring.progress import AboveTheLine
from crawlproject.printable import escaped
from tests.crawling import PROJECT, command_environment, project_settings, scrapy
from tests.forking import Forked
from tests.site.fixture import Site
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Clears the screen, sets the title, by ESC and by C1; goes back in the line; turns the direction.
ACTS = (
    "\x1b[2J\x1b]0;pwned\x07\x9b2J\x9d0;pwned\x9c\x90x\x9c\x85\x7f\x08\r\x00"
    "\u202egpj\u2066\u2069\u200f\u2028\u2029\ufeff\U000e0041"
)
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]")
HTML = (
    f'<!doctype html><html lang="en{ACTS}"><head><title>A {ACTS} Z</title>'
    f'<meta name=description content="{ACTS}"><link rel=canonical href="/{ACTS}">'
    f"</head><body><h1>{ACTS}</h1>{' same words in all pages ' * 30}{ACTS}"
    f'<a href="/b">b</a><a href="/c{ACTS}">c</a><a href="/odd">o</a><a href="/bad">x</a>'
    f'<a href="https://{ACTS}.example/">s</a><a href="/to">t</a><a href="/d?{ACTS}">d</a>'
    f'<a href="http://127.0.0.1:1/{ACTS}">e</a></body></html>'
)
# As latin-1, in which C1 is one byte; line ends would end the header.
_ASCII = re.sub("[\r\n\x00]", "", ACTS).encode("ascii", "ignore").decode()
_HEADER = f"{_ASCII}\x9b2J\x85\x9d0;x\x9c"
PAGES: dict[str, Any] = {
    "/": {"body": HTML},
    "/b": {"body": HTML.replace("<h1>", "<h1>b ")},
    "/odd": {
        "raw": f"HTTP/1.1 200 {_HEADER}\r\nContent-Type: text/html; {_HEADER}\r\n"
        f"X-Odd: {_HEADER}\r\nServer: {_HEADER}\r\nContent-Length: 2\r\n\r\nhi"
    },
    "/bad": {"raw": f"{_HEADER} {_HEADER}\r\n\r\n"},
    "/to": {"raw": f"HTTP/1.1 302 Found\r\nLocation: //[{_HEADER}\r\nContent-Length: 0\r\n\r\n"},
}
ROBOTS = f"User-agent: *\nDisallow: /d\nCrawl-delay: {ACTS}\n{ACTS}: {ACTS}\nSitemap: {ACTS}\n"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two crawls of a hostile site, job1 and job2; ``said`` is what was printed."""
    folder = tmp_path_factory.mktemp("crawled")
    with Site({"pages": PAGES, "robots": ROBOTS}) as site:
        options = ("-s", "STORE_BODIES=True", "-s", "FRONTIER_RETRY_BACKOFF_SECONDS=0.01")
        for job in ("job1", "job2"):
            command = ("crawl", "site", "-a", f"seed={site.url()}", "-s", f"JOBDIR={job}")
            done = scrapy(*command, *options, "-a", "delay=0", cwd=folder)
            assert done.returncode == 0, done.stderr
            with (folder / "said").open("a") as file:
                file.write(done.stdout + done.stderr)
            site.set({"pages": {**PAGES, "/b": {"title": ACTS}}, "robots": ROBOTS})
        (folder / "seed").write_text(site.url())
    return folder


COMMANDS = [
    ("why", "{seed}b", "job1"),
    ("why", "{seed}b", "job1", "--json"),
    ("why", "{seed}odd", "job1"),
    ("why", "{seed}bad", "job1"),
    ("why", "{seed}to", "job1"),
    ("why", f"{{seed}}{ACTS}".replace("\0", ""), "job1"),
    ("why", f"{ACTS}".replace("\0", ""), f"{ACTS}".replace("\0", "")),
    ("page", "job1", "{seed}odd"),
    ("page", "job1", "{seed}odd", "--json"),
    ("page", "job1", "{seed}b"),
    ("page", "job1", "{seed}b", "--json"),
    ("page", "job1", "{seed}bad", "--json"),
    ("frontier", "job1"),
    ("frontier", "job1", "--json"),
    ("skipped", "job1"),
    ("skipped", "job1", "--json"),
    ("skipped", "job1", "--reason", f"{ACTS}".replace("\0", "")),
    ("duplicates", "job1"),
    ("duplicates", "job1", "--json"),
    ("duplicates", "job1", "--csv"),
    ("rank", "job1"),
    ("rank", "job1", "--json"),
    ("rank", "job1", "--csv"),
    ("diff", "job1", "job2"),
    ("diff", "job1", "job2", "--json"),
    ("diff", "job1", "job2", "--csv"),
    ("report", "job1", "-o", "{folder}/report.html"),
    ("settings", "--get", "USER_AGENT"),
]
# In tests below; and those that print nothing but numbers, and names that their user has chosen.
ELSEWHERE = {"crawl", "export"} | {"cluster", "stop", "forget"}
# Scrapy's own commands, of which ours change the set-up and not what they print.
SCRAPYS = {"bench", "check", "fetch", "parse", "runspider", "shell", "view"}


@contextmanager
def streams(file: TextIO) -> Iterator[None]:
    before = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = file
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def run(folder: Path, command: tuple[str, ...], file: TextIO) -> None:
    seed = (folder / "seed").read_text()
    words = [word.replace("{seed}", seed).replace("{folder}", str(folder)) for word in command]
    words = [str(folder / word) if word in ("job1", "job2") else word for word in words]
    with streams(file), pytest.raises(SystemExit):
        execute(["scrapy", *words], project_settings())
    file.flush()


class Terminal:
    """A pseudo-terminal that keeps what it is sent."""

    def __init__(self) -> None:
        self._master, self.slave = os.openpty()
        self._content = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        try:
            while chunk := os.read(self._master, 65_536):
                self._content += chunk
        except OSError:
            pass  # as Linux tells that nobody writes any more

    def content(self, encoding: str = "utf-8") -> str:
        """After everybody has closed it. The line discipline sends CR before every LF."""
        self._reader.join(PATIENCE)
        os.close(self._master)
        return self._content.replace(b"\r\n", b"\n").decode(encoding)


@pytest.mark.parametrize("command", COMMANDS, ids=ascii)
def test_no_command_lets_a_site_act_on_a_terminal(
    crawled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    # No colours, which are escapes of ours.
    monkeypatch.setenv("TERM", "dumb")
    with (tmp_path / "piped").open("w+", encoding="utf-8") as file:
        run(crawled, command, file)
        file.seek(0)
        piped = bytes(file.buffer.read()).decode().replace("\r\n", "\n")
    terminal = Terminal()
    with os.fdopen(terminal.slave, "w", encoding="utf-8") as file:
        run(crawled, command, file)
    shown = terminal.content()
    assert shown
    # CSV is data for spreadsheets: only control characters are gone in a file of it.
    is_csv = command[-1] == "--csv" or command == ("skipped", "job1")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]" if is_csv else BAD, piped)
    assert not BAD.search(shown)


def test_all_commands_are_tried() -> None:
    """A new one is to be in the table."""
    folder = crawlproject.commands.__path__
    names = set()
    for module in pkgutil.iter_modules(folder, "crawlproject.commands."):
        command = getattr(__import__(module.name, fromlist=["Command"]), "Command", None)
        if isinstance(command, type) and issubclass(command, ScrapyCommand):
            names.add(module.name.rpartition(".")[2])
    assert names == {command[0] for command in COMMANDS} | ELSEWHERE | SCRAPYS


def test_json_is_the_same_for_who_parses_it(crawled: Path, tmp_path: Path) -> None:
    with (tmp_path / "piped").open("w+", encoding="utf-8") as file:
        run(crawled, ("page", "job1", "{seed}", "--json"), file)
        run(crawled, ("page", "job1", "{seed}odd", "--json"), file)
        file.seek(0)
        text = file.read()
    decode = json.JSONDecoder().raw_decode
    first, end = decode(text)
    second, _ = decode(text[end:].lstrip())
    # Of a title, what is no control character stays; of a header, all does.
    assert "\u202egpj\u2066\u2069\u200f" in first["page"]["title"]
    headers = dict(second["stored"]["response_headers"])
    assert headers["X-Odd"].endswith("\x9b2J\x85\x9d0;x\x9c")


def test_a_body_is_byte_by_byte_but_on_a_terminal(crawled: Path, tmp_path: Path) -> None:
    body = HTML.encode()
    with (tmp_path / "piped").open("w+", encoding="utf-8") as file:
        run(crawled, ("page", "job1", "{seed}", "--body"), file)
        file.seek(0)
        assert file.buffer.read() == body
    terminal = Terminal()
    with os.fdopen(terminal.slave, "w", encoding="utf-8") as file:
        run(crawled, ("page", "job1", "{seed}", "--body"), file)
    shown = terminal.content()
    assert not BAD.search(shown)
    assert "\\u009b2J" in shown


def test_a_terminal_of_another_encoding_gets_no_byte_that_acts(crawled: Path) -> None:
    """In latin-1 the second byte of an umlaut in UTF-8 is C1."""
    terminal = Terminal()
    with os.fdopen(terminal.slave, "w", encoding="latin-1") as file:
        run(crawled, ("page", "job1", "{seed}", "--json"), file)
    shown = terminal.content("latin-1")
    assert json.loads(shown)["page"]["url"] == (crawled / "seed").read_text()
    assert not BAD.search(shown)


@pytest.mark.parametrize("kind", ["json", "jsonl", "csv", "xml"])
def test_an_export_to_a_terminal_does_not_act_on_it(crawled: Path, kind: str) -> None:
    terminal = Terminal()
    process = Forked[bytes](
        [sys.executable, "-m", "scrapy", "export", "job1", "-o", f"-:{kind}"],
        cwd=crawled,
        env=command_environment(TERM="dumb"),
        stdin=subprocess.DEVNULL,
        stdout=terminal.slave,
        stderr=terminal.slave,
    )
    os.close(terminal.slave)
    assert process.wait(PATIENCE) == 0
    shown = terminal.content()
    assert "Wrote " in shown
    assert "127.0.0.1" in shown
    assert not BAD.search(shown)


def test_json_on_standard_output_has_no_control_characters(crawled: Path) -> None:
    piped = scrapy("export", "job1", "-o", "-:jsonl", cwd=crawled).stdout
    assert not BAD.search(piped)
    titles = [json.loads(line).get("title") or "" for line in piped.splitlines()]
    assert any("\u202egpj\u2066\u2069\u200f" in title for title in titles)


def test_a_crawl_says_nothing_that_acts_on_a_terminal(crawled: Path) -> None:
    said = (crawled / "said").read_text()
    assert "127.0.0.1" in said
    assert not BAD.search(said)


@pytest.mark.parametrize("term", ["dumb", "xterm"])
def test_nor_does_one_that_fails_on_a_terminal(tmp_path: Path, term: str) -> None:
    """Errors, summary, and with xterm the live line, which has escapes of its own."""
    terminal = Terminal()
    with Site({"pages": PAGES, "robots": ROBOTS}) as site:
        process = Forked[bytes](
            [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"seed={site.url('/to')}"],
            cwd=tmp_path,
            env=command_environment(TERM=term),
            stdin=subprocess.DEVNULL,
            stdout=terminal.slave,
            stderr=terminal.slave,
        )
        os.close(terminal.slave)
        assert process.wait(PATIENCE) == 1
    shown = terminal.content()
    assert "scrapy crawl: error: the seed " in shown
    own = r"\x1b\[[0-9;?]*[A-Za-z]|\r" if term == "xterm" else "(?!)"
    assert not BAD.search(re.sub(own, "", shown).replace("\x1b[2J", ""))
    assert "\x1b[2J" not in shown


def test_a_line_above_the_live_line_keeps_its_colours_alone() -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, color_system="standard", width=200)
    AboveTheLine(console).write(f"\x1b[31mred\x1b[0m {ACTS}\n")
    assert file.getvalue().startswith("\x1b[31mred\x1b[0m ")
    assert not BAD.search(file.getvalue().replace("\x1b[31m", "").replace("\x1b[0m", ""))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\tb\nc", "a\tb\nc"),
        ("\x9b2J", "\\u009b2J"),
        ("\x1b\r\x00", "\\u001b\\u000d\\u0000"),
        ("\u202e\U000e0041", "\\u202e\\udb40\\udc41"),
        ("\ud800", "\\ud800"),
        ("日本 grün 5\u00a0km \U0001f469\u200d\U0001f467", None),
    ],
)
def test_what_acts_is_escaped_as_in_json(text: str, shown: str | None) -> None:
    assert escaped(text) == (text if shown is None else shown)
    quoted = f'"{escaped(text)}"'
    assert json.loads(quoted.replace("\n", "\\n").replace("\t", "\\t")) == text


# The modules that may write by themselves, and why.
WRITERS = {
    "monitoring/streams.py": "the one place",
    "monitoring/summary.py": "writes what tables.py has drawn",
    "monitoring/tables.py": "draws with rich, from visible text",
    "monitoring/progress.py": "draws with rich, from visible text",
    "commands/sheet.py": "draws with rich, from visible text",
    "redaction.py": "tracebacks of unexpected errors, cleaned",
    "demo/__main__.py": "its own address; it needs nothing of the project",
}
_WRITE = re.compile(
    r"^\s*(print|[\w.]*console\.print|[\w.]*std(out|err)(\.buffer)?\.write)\(", re.MULTILINE
)


def test_nobody_else_writes_to_standard_output_or_error() -> None:
    package = PROJECT / "crawlproject"
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if _WRITE.search(path.read_text())
    }
    assert found == set(WRITERS)
