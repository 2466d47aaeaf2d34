"""The scripts, as a newcomer runs them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from crawlproject.commands.launch import main, names_seed, split
from tests.crawling import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

# Also what is tried again, such as a robots.txt.
AT_ONCE = ("-s", "FRONTIER_RETRY_BACKOFF_SECONDS=0.01")

_BASH = shutil.which("bash") or "/bin/bash"


def run(*arguments: str, cwd: Path, script: str = "crawl") -> subprocess.CompletedProcess[str]:
    """A script, from another directory, with the environment that runs the tests."""
    if (PROJECT / ".venv/bin/python").exists() and sys.prefix == str(PROJECT / ".venv"):
        command = [str(PROJECT / "scripts" / script)]
    else:
        pytest.skip("the tests don't run in the project's .venv: ./scripts/test does")
    return subprocess.run(
        [*command, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )


def test_without_a_url_the_demo_does_not_join_a_crawl_that_has_begun(tmp_path: Path) -> None:
    options = ["-s", "JOBDIR=job", "-s", "RETRY_ENABLED=no", *AT_ONCE]
    begun = run("http://127.0.0.1:9/", *options, cwd=tmp_path)
    assert begun.returncode == 1
    result = run(*options, "-O", "x.json", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr == (
        "scrapy crawl: error: no URL given, and 'job' holds a crawl of http://127.0.0.1:9/: "
        "give that URL to go on\n"
    )
    assert not (tmp_path / "x.json").exists()


def test_without_a_url_the_demo_site_is_crawled_into_a_file(tmp_path: Path) -> None:
    result = run(cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "crawling the bundled demo site" in result.stderr
    pages = json.loads((tmp_path / "sitemap.json").read_text())["pages"]
    assert len(pages) == 75
    statuses = {page["status_code"] for page in pages}
    assert {200, 404, 410, 500} <= statuses
    errors = {page.get("error") for page in pages}
    assert {"robots", "redirect loop", "unexpected status 404"} <= errors
    # A redirect loop, a chain, and the one that leads to a page linked elsewhere.
    assert sum(bool(page.get("redirected_from")) for page in pages) >= 3


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--port", "many"], "http_port: 'many' is not a whole number from 1 to 65535"),
        (["--prot", "1"], "unrecognized arguments: --prot 1"),
        (["--bind", "0.0.0.0"], "bind_address: '0.0.0.0' is open to others: set a username and"),
    ],
)
def test_a_service_that_cannot_be_says_so_in_one_line(
    tmp_path: Path, arguments: list[str], problem: str
) -> None:
    result = run(*arguments, script="serve", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith(f"serve: error: {problem}")
    assert result.stderr.count("\n") == 1


def test_a_crawl_can_be_looked_into_from_any_directory(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {}}})
    run(server.url(), "-s", "JOBDIR=job", cwd=tmp_path)
    result = run("why", server.url(), "job", script="scrapy", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert "It was fetched" in result.stdout


def test_a_url_may_stand_anywhere_and_the_status_is_the_crawls(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": {"/": {"links": []}}})
    result = run("-O", "x.json", server.url(), "-a", "depth=0", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert json.loads((tmp_path / "x.json").read_text())["seed"] == server.url()
    assert run("ftp://x", cwd=tmp_path).returncode == 2
    refused = run("http://127.0.0.1:9/", "-s", "RETRY_TIMES=0", *AT_ONCE, cwd=tmp_path)
    assert refused.returncode == 1


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["https://a.com", "--help"]])
def test_help_has_examples_before_the_options(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert not caught.value.code
    head, found, options = capsys.readouterr().out.partition("those of scrapy crawl:\n")
    assert head.startswith("usage: ./scripts/crawl [URL] [options]\n")
    assert "The URL may come first" in head
    examples = re.findall(r"^  \./scripts/crawl (.*)", head, re.MULTILINE)
    assert len(examples) == 3
    for example in examples:
        url, rest = split(shlex.split(example))
        assert url is not None or names_seed(rest)
    assert "-s JOBDIR=" in head
    assert "goes on where it stopped" in head
    assert found
    assert "-a depth=" in options


@pytest.mark.parametrize(
    ("arguments", "url", "options"),
    [
        (["https://a.com"], "https://a.com", []),
        (["https://a.com", "-O", "x.json"], "https://a.com", ["-O", "x.json"]),
        (["-O", "x.json", "https://a.com"], "https://a.com", ["-O", "x.json"]),
        (["-s", "A=1", "--nolog", "https://a.com"], "https://a.com", ["-s", "A=1", "--nolog"]),
        (["-a", "seed=https://a.com"], None, ["-a", "seed=https://a.com"]),
        ([], None, []),
    ],
)
def test_the_url_is_found_among_the_options(
    arguments: list[str], url: str | None, options: list[str]
) -> None:
    assert split(arguments) == (url, options)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["-a", "seed=https://a.com"], True),
        (["-aseed=https://a.com"], True),
        (["-a", "seeds_file=x"], True),
        (["-s", "SEEDS=https://a.com"], True),
        (["-a", "depth=2", "-O", "seed=.json"], False),
    ],
)
def test_a_seed_among_the_options_needs_no_url(options: list[str], named: bool) -> None:
    assert names_seed(options) == named


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["https://a.com", "https://b.com"], "give one URL, or several as -a 'seed=A B'"),
        (["--depth", "2"], "unknown option '--depth'; did you mean -a depth=…?"),
        (["https://a.com", "depth=2"], "unknown argument 'depth=2'; did you mean -a depth=…?"),
        (["-O"], "argument -O/--overwrite-output: expected one argument"),
        (["https://a.com", "-a", "seed=https://b.com"], "not both"),
    ],
)
def test_a_mistake_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    stderr = capsys.readouterr().err
    assert message in stderr
    assert stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("programs", "reason"),
    [
        ({"chromium": "exit 0"}, ""),
        ({"id": "echo 1000"}, "no chromium, and no apt-get to install it with"),
        (
            {"id": "echo 1000", "apt-get": "exit 0", "sudo": "exit 1"},
            "no chromium, and no right to install it: apt-get install chromium",
        ),
        (
            {"id": "echo 0", "apt-get": "exit 100"},
            "no chromium, and apt-get could not install it",
        ),
        ({"id": "echo 0", "apt-get": "exit 0", "env": "exit 0"}, ""),
        ({"id": "echo 1000", "apt-get": "exit 0", "sudo": "exit 0"}, ""),
    ],
)
def test_a_program_is_installed_where_that_may_be_done(
    tmp_path: Path, programs: dict[str, str], reason: str
) -> None:
    for name, does in programs.items():
        (tmp_path / name).write_text(f"#!{_BASH}\n{does}\n")
        (tmp_path / name).chmod(0o755)
    script = (
        f'. "{PROJECT}/scripts/programs.sh"; need chromium rendering chromium; '
        'echo "${CHROMIUM_MISSING:-}"'
    )
    result = subprocess.run(
        [_BASH, "-eu", "-c", script],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == reason
    assert result.stderr.count("the tests of rendering are skipped") == bool(reason)


@pytest.mark.parametrize("arguments", [(), ("newest",), ("2.19",)])
def test_another_scrapy_is_named_by_its_version(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*arguments, cwd=tmp_path, script="test-scrapy")
    assert done.returncode == 1
    assert done.stderr == "test-scrapy: needs a version of Scrapy, such as 2.19.0\n"
