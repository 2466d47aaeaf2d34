from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlproject.monitoring.feeds import display_name

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("site.json", "site.json"),
        ("out/site.json", "out/site.json"),
        ("{cwd}/out/site.json", "out/site.json"),
        ("file://{cwd}/out/a%20b.json", "out/a b.json"),
        ("/elsewhere/site.json", "/elsewhere/site.json"),
        ("file:///elsewhere/site.json", "/elsewhere/site.json"),
        ("s3://bucket/site.json", "s3://bucket/site.json"),
        ("s3://key:secret@bucket/site.json", "s3://bucket/site.json"),
        ("ftp://user:p@ss@host:21/site.json", "ftp://host:21/site.json"),
    ],
)
def test_a_file_is_named_as_a_user_would_and_without_passwords(
    uri: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert display_name(uri.format(cwd=tmp_path)) == name
