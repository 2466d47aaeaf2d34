from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest
from scrapy.extensions.postprocessing import GzipPlugin, PostProcessingManager

from crawlproject.exports.files import ends_in_mid_line, local_path, start_over

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("mode", ["ab", "wb", "r+b"])
def test_starting_over_empties_a_local_file(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "feed"
    path.write_bytes(b"old")
    with path.open(mode) as file:
        start_over(file)
        file.write(b"new")
    assert path.read_bytes() == b"new"


def test_starting_over_tolerates_what_cannot_be_emptied(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb"), os.fdopen(writer, "wb") as pipe:
        start_over(pipe)
    with (tmp_path / "feed.gz").open("wb") as file:
        wrapped = PostProcessingManager([GzipPlugin], file, {})
        start_over(wrapped)  # type: ignore[arg-type]
        wrapped.write(b"x")
        wrapped.close()
    start_over(object())  # type: ignore[arg-type]


def test_redirected_standard_output_keeps_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "out"
    code = (
        "import sys; from crawlproject.exports.files import local_path, start_over;"
        "out = sys.stdout.buffer; out.write(b'mine '); out.flush(); start_over(out);"
        "out.write(str(local_path(out)).encode())"
    )
    with path.open("wb") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert path.read_bytes() == b"mine None"


def test_only_a_real_file_has_a_local_path(tmp_path: Path) -> None:
    path = tmp_path / "feed"
    with path.open("ab") as file:
        assert local_path(file) == path
        assert local_path(PostProcessingManager([GzipPlugin], file, {})) is None  # type: ignore[arg-type]
    with tempfile.NamedTemporaryFile(prefix="feed-") as temporary:
        assert local_path(temporary) is None
    with tempfile.TemporaryFile() as nameless:
        assert local_path(nameless) is None
    assert local_path(io.BytesIO()) is None


@pytest.mark.parametrize(("content", "expected"), [(b"", False), (b"a\n", False), (b"a\nb", True)])
def test_a_line_that_was_cut_off_is_noticed(tmp_path: Path, content: bytes, expected: bool) -> None:
    path = tmp_path / "feed"
    path.write_bytes(content)
    assert ends_in_mid_line(path) is expected
