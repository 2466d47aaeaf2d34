"""Packages that not everybody has: are they there, and how to install those of an extra."""

from __future__ import annotations

import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

_FOLDER = Path(__file__).parent.parent
_CONSTRAINTS = "constraints.txt"


def how_to_install(extra: str) -> str:
    """A command line. With ``./scripts/…`` a bare ``pip`` would be another environment's."""
    file = _FOLDER / f"requirements-{extra}.txt"
    # Installed as a package, there is no such file.
    what = [f"crawlproject[{extra}]"]
    if file.exists():
        what = ["-c", _short(str(_FOLDER / _CONSTRAINTS)), "-r", _short(str(file))]
    return shlex.join([_short(sys.executable), "-m", "pip", "install", *what])


def is_installed(module: str) -> bool:
    """Whether a module could be imported. It is not, but its packages are."""
    try:
        return not module or find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _short(path: str) -> str:
    return path.removeprefix(f"{Path.cwd()}{os.sep}")
