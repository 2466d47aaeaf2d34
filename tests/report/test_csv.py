"""CSV from the report's page, by the same cases as CSV from Python."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from playwright._impl._driver import compute_driver_executable

from tests.crawling import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = PROJECT / "crawlproject" / "report" / "page"
CASES = PROJECT / "tests" / "exports" / "cells.json"


def test_cells_are_written_as_in_python(tmp_path: Path) -> None:
    """By the Node.js that comes with Playwright."""
    for name in ("csv", "dom", "words"):
        text = (PAGE / f"{name}.js").read_text()
        (tmp_path / f"{name}.mjs").write_text(text.replace('.js";', '.mjs";'))
    (tmp_path / "run.mjs").write_text(
        'import { readFileSync } from "node:fs";\n'
        'import { cell } from "./csv.mjs";\n'
        f"const cases = JSON.parse(readFileSync({json.dumps(str(CASES))}, 'utf8'));\n"
        "console.log(JSON.stringify(cases.map(({ text }) => cell(text))));\n"
    )
    node, _ = compute_driver_executable()
    result = subprocess.run(
        [node, "run.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 0, result.stderr
    cases = json.loads(CASES.read_text())
    found = dict(zip((case["text"] for case in cases), json.loads(result.stdout), strict=True))
    assert found == {case["text"]: case["written"] for case in cases}
