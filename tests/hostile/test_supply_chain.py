"""What is installed is what was tested: every package is pinned, and every image."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from importlib import metadata
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.crawling import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES = sorted(path.name for path in PROJECT.glob("requirements*.txt"))
CONSTRAINTS = (PROJECT / "constraints.txt").read_text()
# Part of every environment, and not installed by us.
_GIVEN = frozenset({"pip"})

Environment = dict[str, str]


def lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.strip() and not line.startswith(("#", "-r ")):
            yield line


def required(name: str) -> list[Requirement]:
    return [Requirement(line) for line in lines((PROJECT / name).read_text())]


def constrained() -> list[Requirement]:
    return [Requirement(line) for line in lines(CONSTRAINTS)]


def holds(one: Requirement, environment: Environment | None = None, extra: str = "") -> bool:
    return one.marker is None or one.marker.evaluate({**(environment or {}), "extra": extra})


def pins(environment: Environment | None = None) -> dict[str, str]:
    """The constraints that hold in an environment."""
    found: dict[str, str] = {}
    for one in constrained():
        if holds(one, environment):
            name = canonicalize_name(one.name)
            assert name not in found, f"{name} has two versions in {environment}"
            (specifier,) = one.specifier
            found[name] = specifier.version
    return found


def closure(environment: Environment | None = None) -> set[str]:
    """What all requirements need in an environment, as far as it is installed here."""
    needed: set[tuple[str, str]] = set()
    queue = [one for file in FILES for one in required(file)]
    queue = [one for one in queue if holds(one, environment)]
    while queue:
        one = queue.pop()
        name = canonicalize_name(one.name)
        for extra in {"", *one.extras} - {extra for known, extra in needed if known == name}:
            needed.add((name, extra))
            queue += [one for one in requires(name) if holds(one, environment, extra)]
    return {name for name, _ in needed} - _GIVEN


@cache
def requires(name: str) -> list[Requirement]:
    try:
        return [Requirement(line) for line in metadata.requires(name) or []]
    except metadata.PackageNotFoundError:
        return []  # it is for other platforms


def environments() -> Iterator[Environment]:
    """Those that may run us, and PyPy, for which some of the packages make an exception."""
    systems = {"Linux": "linux", "Darwin": "darwin", "Windows": "win32"}
    versions = ("3.11.0", "3.11.9", "3.12.9", "3.13.5", "3.14.0")
    for (system, platform), version in product(systems.items(), versions):
        for implementation in ("CPython", "PyPy"):
            yield {
                "platform_system": system,
                "sys_platform": platform,
                "os_name": "nt" if system == "Windows" else "posix",
                "platform_machine": "x86_64",
                "python_version": version.rpartition(".")[0],
                "python_full_version": version,
                "platform_python_implementation": implementation,
                "implementation_name": implementation.lower(),
            }


@pytest.mark.parametrize("file", FILES)
def test_every_requirement_is_pinned_and_the_constraints_agree(file: str) -> None:
    pinned = pins()
    for one in required(file):
        (specifier,) = one.specifier
        assert (specifier.operator, "*" in specifier.version) == ("==", False), one
        if holds(one):
            assert pinned[canonicalize_name(one.name)] == specifier.version


def test_whatever_is_installed_for_us_is_pinned_to_its_version() -> None:
    pinned = pins()
    needed = closure()
    assert len(needed) > 100
    assert {name: pinned.get(name) for name in needed} == {
        name: metadata.version(name) for name in needed
    }


def test_nothing_is_pinned_that_nobody_needs() -> None:
    needed = set().union(*(closure(environment) for environment in environments()))
    assert {canonicalize_name(one.name) for one in constrained()} == needed


def test_on_every_platform_each_package_has_one_version() -> None:
    for environment in environments():
        missing = closure(environment) - pins(environment).keys()
        assert not missing, (missing, environment)


def test_no_file_names_a_registry() -> None:
    for name in (*FILES, "constraints.txt", "scripts/constraints", "scripts/setup.sh"):
        text = (PROJECT / name).read_text()
        assert not re.search(r"https?://|--(extra-)?index|--find-links|@ file:", text), name


def test_the_scripts_install_within_the_constraints(tmp_path: Path) -> None:
    """And again, once they change."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")
    (tmp_path / "scripts").mkdir()
    shutil.copy(PROJECT / "scripts" / "setup.sh", tmp_path / "scripts")
    for name in (*FILES, "constraints.txt"):
        shutil.copy(PROJECT / name, tmp_path)
    # In place of the environment's python: it only tells what it was asked for.
    python, calls = tmp_path / ".venv" / "bin" / "python", tmp_path / "calls"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "$*" >>"{calls}"\n')
    python.chmod(0o755)

    def install(file: str) -> list[str]:
        calls.write_text("")
        command = f'. "{tmp_path}/scripts/setup.sh"; install {file}'
        subprocess.run([bash, "-euc", command], check=True, capture_output=True, timeout=60)
        return calls.read_text().splitlines()

    (call,) = install("requirements-service.txt")
    assert call.endswith(f"-c {tmp_path}/constraints.txt -r {tmp_path}/requirements-service.txt")
    assert install("requirements-service.txt") == []
    with (tmp_path / "constraints.txt").open("a") as file:
        file.write("another==1\n")
    assert len(install("requirements-service.txt")) == 1


# --- images


def images() -> list[str]:
    document: dict[str, Any] = yaml.safe_load((PROJECT / "deploy/compose.yaml").read_text())
    dockerfile = (PROJECT / "deploy/Dockerfile").read_text()
    named = [service["image"] for service in document["services"].values()]
    named += re.findall(r"^ARG \w+=(\S+:\S+)$", dockerfile, re.MULTILINE)
    # Others are stages, or named by an argument.
    named += re.findall(r"^FROM ([^\s$]+)(?=\s)", dockerfile, re.MULTILINE)
    return named


@pytest.mark.parametrize("image", images())
def test_every_image_has_an_exact_version(image: str) -> None:
    """Major, minor and patch: a shorter tag moves from week to week."""
    assert re.fullmatch(r"[\w./-]+:v?\d+\.\d+\.\d+(-[\w.-]+)?(@sha256:[0-9a-f]{64})?", image)


def test_the_image_is_built_within_the_constraints() -> None:
    dockerfile = (PROJECT / "deploy/Dockerfile").read_text()
    installs = re.findall(r"pip install (?:.*\\\n)*.*", dockerfile)
    assert len(installs) == 2
    for command in installs:
        assert "-c constraints.txt" in command or "--no-deps" in command
