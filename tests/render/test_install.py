"""What rendering needs is looked for before the first request."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.misc import load_object

from crawlproject.errors import BadArgument
from crawlproject.render import install
from tests.crawling import PROJECT, fresh_scrapy, project_settings, scrapy

if TYPE_CHECKING:
    from pathlib import Path


def prepared(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Any:
    monkeypatch.setattr(install, "find_spec", lambda name: object())
    chosen = project_settings({"RENDER_MODE": "auto", **settings})
    install.prepare(chosen)
    return chosen


def test_without_rendering_nothing_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    settings = prepared(monkeypatch, RENDER_MODE="never")
    assert "HttpDownloadHandler" in settings["DOWNLOAD_HANDLERS"]["http"]


def test_a_browser_is_found_by_its_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadArgument, match="RENDER_BROWSER_PATH"):
        prepared(monkeypatch)
    program = tmp_path / "google-chrome"
    program.write_text("#!/bin/sh\n")
    with pytest.raises(BadArgument, match="needs a Chromium"):
        prepared(monkeypatch)
    program.chmod(0o755)
    assert install.browser_path(prepared(monkeypatch)) == str(program)


def test_a_browser_is_found_where_the_user_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "my browser"
    with pytest.raises(BadArgument, match="is no program"):
        prepared(monkeypatch, RENDER_BROWSER_PATH=str(path))
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    settings = prepared(monkeypatch, RENDER_BROWSER_PATH=str(path))
    assert install.browser_path(settings) == str(path)


def test_a_browser_of_another_machine_needs_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    settings = prepared(monkeypatch, PLAYWRIGHT_CDP_URL="http://127.0.0.1:9222")
    assert install.browser_path(settings) is None


def test_a_handler_of_a_teams_own_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    own = "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"
    with pytest.raises(BadArgument, match="HTTP11DownloadHandler in DOWNLOAD_HANDLERS"):
        prepared(
            monkeypatch,
            PLAYWRIGHT_CDP_URL="http://127.0.0.1:9222",
            DOWNLOAD_HANDLERS={"http": own, "https": own},
        )


def test_preparing_twice_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = prepared(monkeypatch, PLAYWRIGHT_CDP_URL="http://127.0.0.1:9222")
    handlers = settings.getdict("DOWNLOAD_HANDLERS")
    install.prepare(settings)
    assert settings.getdict("DOWNLOAD_HANDLERS") == handlers
    assert "Rendering" in load_object(handlers["https"]).__name__


# In place of an environment without the extra: its packages are not found.
_WITHOUT = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if "playwright" in name else find(name, *more)
"""


def test_without_the_extra_one_line_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(_WITHOUT)
    result = fresh_scrapy(
        *("crawl", "site", "-a", "seed=http://127.0.0.1:9/", "-a", "render=auto"),
        cwd=tmp_path,
        PYTHONPATH=f"{tmp_path}:{':'.join(path for path in sys.path if path)}",
    )
    assert result.returncode == 2
    assert result.stderr == (
        "scrapy crawl: error: render: needs packages that are not installed: "
        f"{sys.executable} -m pip install -c {PROJECT}/constraints.txt "
        f"-r {PROJECT}/requirements-render.txt; "
        "and a Chromium (on Debian: apt-get install chromium)\n"
    )


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("-a", "render=maybe"), "render: 'maybe' is not one of never, auto, always"),
        (("-s", "RENDER_MAX_PAGES=-1"), "RENDER_MAX_PAGES: '-1' is not a whole number"),
        (("-s", "RENDER_CONCURRENCY=0"), "RENDER_CONCURRENCY: '0' is not a whole number"),
        (("-s", "RENDER_TIMEOUT_SECONDS=0"), "RENDER_TIMEOUT_SECONDS: 0 is no time at all"),
        (("-s", "RENDER_MAX_REQUESTS=x"), "RENDER_MAX_REQUESTS: 'x' is not a whole number"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, option: tuple[str, str], message: str) -> None:
    result = scrapy("crawl", "site", "-a", "seed=http://127.0.0.1:9/", *option, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
