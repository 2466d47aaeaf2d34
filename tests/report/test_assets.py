from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from crawlproject.report import assets
from tests.crawling import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

ROOM = PROJECT / "crawlproject" / "report"
PAGE = ROOM / "page"
ECHARTS = ROOM / "vendor" / "echarts"
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js"', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:const|function|class) (\w+)", re.MULTILINE)


def test_all_modules_of_the_page_are_in_its_script_behind_those_they_import() -> None:
    script = assets.script().decode()
    modules = re.findall(r"^modules\.(\w+) = ", script, re.MULTILINE)
    assert sorted(modules) == sorted(path.stem for path in PAGE.glob("*.js"))
    for path in PAGE.glob("*.js"):
        for _, other in IMPORT.findall(path.read_text()):
            assert modules.index(other) < modules.index(path.stem)
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)


def test_what_a_module_imports_is_exported_there() -> None:
    for path in PAGE.glob("*.js"):
        for names, other in IMPORT.findall(path.read_text()):
            exported = EXPORT.findall((PAGE / f"{other}.js").read_text())
            assert {name.strip() for name in names.split(",")} <= {*exported}, (path.name, other)


@pytest.mark.parametrize("path", sorted(PAGE.glob("*.js")), ids=lambda path: path.name)
def test_scripts_make_text_only(path: Path) -> None:
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\("
    assert not re.search(ways, path.read_text())


def test_the_page_closes_no_script_and_no_style_of_its_own() -> None:
    assert b"</script" not in assets.script() + assets.library()
    assert b"</style" not in assets.style()


def test_the_library_of_the_charts_is_the_one_that_is_said() -> None:
    readme = (ECHARTS / "README.md").read_text()
    assert hashlib.sha256(assets.library()).hexdigest() in readme
    (version,) = re.findall(r"^\| version \| ([\d.]+) \|$", readme, re.MULTILINE)
    assert f'version="{version}"' in assets.library().decode()
    assert {path.name for path in ECHARTS.iterdir()} >= {"LICENSE", "NOTICE"}


def test_a_wheel_and_an_egg_have_all_files_and_write_reports(tmp_path: Path) -> None:
    """Both are made of what setuptools finds; code in an egg runs without being unpacked."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md"):
        (source / name).write_bytes((PROJECT / name).read_bytes())
    for path in PROJECT.glob("requirements*.txt"):
        (source / path.name).write_bytes(path.read_bytes())
    (source / "crawlproject").symlink_to(PROJECT / "crawlproject")
    command = (sys.executable, "setup.py", "-q", "bdist_egg", "--dist-dir", str(tmp_path))
    result = subprocess.run(command, cwd=source, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    (egg,) = tmp_path.glob("*.egg")
    files = [path for path in (*PAGE.iterdir(), *ECHARTS.rglob("*")) if path.is_file()]
    with ZipFile(egg) as archive:
        assert {path.relative_to(PROJECT).as_posix() for path in files} <= {*archive.namelist()}
    code = "from crawlproject.report import assets; print(assets.__file__, len(assets.library()))"
    environment = {"PYTHONPATH": str(egg)}
    said = subprocess.check_output((sys.executable, "-c", code), cwd=tmp_path, env=environment)
    assert b".egg" in said
    assert int(said.split()[-1]) == len(assets.library())
