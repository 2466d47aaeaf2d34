"""Secrets that tests put in at every door, and where they must never come out."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable


class Canaries:
    """A secret for each door, by name; all of them are different."""

    def __init__(self, place: str) -> None:
        self._place = place
        self.by_door: dict[str, str] = {}

    def __call__(self, door: str) -> str:
        return self.by_door.setdefault(door, f"canary-{door}-{self._place}")

    def found_in(self, text: str | bytes) -> list[str]:
        """The doors whose secrets are in a text, in whatever spelling."""
        content = text.encode() if isinstance(text, str) else text
        return [
            door
            for door, secret in self.by_door.items()
            if any(spelling in content for spelling in _spellings(secret))
        ]

    def files(self, folder: Path, *but: str) -> dict[str, list[str]]:
        """The files with secrets in them, and which; ``but`` are names that may have some."""
        found = {
            str(path.relative_to(folder)): self.found_in(path.read_bytes())
            for path in folder.rglob("*")
            if path.is_file() and path.name not in but
        }
        return {name: doors for name, doors in found.items() if doors}

    def processes(self) -> list[str]:
        """The command lines with secrets in them, of all processes of this machine."""
        return [line for line in command_lines() if self.found_in(line)]


def _spellings(secret: str) -> Iterable[bytes]:
    for user in ("", "me", "ann"):
        # Without its last letters, which depend on what follows.
        yield b64encode(f"{user}:{secret}".encode())[:-4]
    yield from (secret.encode(), quote(secret, safe="").encode(), secret[::-1].encode())


def command_lines() -> list[str]:
    lines = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                content = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            lines.append(content.replace(b"\0", b" ").decode("utf-8", "replace"))
    return lines


def children_of(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                status = (folder / "stat").read_text()
            except OSError:
                continue
            if int(status.rpartition(")")[2].split()[1]) == parent:
                found.append(int(folder.name))
    return found
