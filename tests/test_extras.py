from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from crawlproject import extras
from crawlproject.extras import how_to_install
from tests.crawling import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_it_is_installed_into_the_environment_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = str(PROJECT / "requirements-parquet.txt")
    constraints = str(PROJECT / "constraints.txt")
    expected = [sys.executable, "-m", "pip", "install", "-c", constraints, "-r", file]
    assert shlex.split(how_to_install("parquet")) == expected
    # In the project's folder, short enough to read.
    monkeypatch.chdir(PROJECT)
    monkeypatch.setattr(sys, "executable", str(PROJECT / ".venv/bin/python"))
    command = ".venv/bin/python -m pip install -c constraints.txt -r requirements-parquet.txt"
    assert how_to_install("parquet") == command


def test_where_there_is_no_such_file_the_package_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "_FOLDER", tmp_path)
    assert how_to_install("remote").endswith(" -m pip install 'crawlproject[remote]'")
