"""Files and folders for their owner only: 0600 and 0700, whatever the umask.

What exists is left as it is, with its mode: a user may have shared a folder on purpose. A file that
is made here is never written through a link that somebody else has put in its place.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from crawlproject.errors import BadOutput

if TYPE_CHECKING:
    from pathlib import Path

_FILE, _FOLDER = 0o600, 0o700
# Attempts to make a draft while somebody else makes one of the same name.
_ATTEMPTS = 5


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing. Raises OSError."""
    if folder.is_dir():
        return
    missing = [folder, *folder.parents]
    for path in reversed([path for path in missing if not path.exists()]):
        with suppress(FileExistsError):
            path.mkdir(mode=_FOLDER)
    # For whoever stands in the way.
    folder.mkdir(exist_ok=True)


def open_private(path: Path, flags: int) -> int:
    """As os.open, for a file of this user's own. Raises OSError, also for a link.

    A second name of the file (a hard link) may be somebody else's, who would have it emptied.
    """
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, _FILE)
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
        os.close(descriptor)
        raise OSError(None, "it has a second name (a hard link): remove it", str(path))
    return descriptor


def create_private(path: Path) -> None:
    """Make an empty file, unless there is one. Raises OSError."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE))


def keep_private(path: Path) -> None:
    """Take away others' rights to a file of this user's own."""
    with suppress(OSError):
        found = path.lstat()
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_mode & 0o077:
            path.chmod(_FILE)


def create_new(path: Path, *, mode: int = _FILE, buffering: int = -1) -> IO[bytes]:
    """A new file to write, in place of whatever has this name. Raises OSError."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | os.O_NOFOLLOW, mode)

    for left in reversed(range(_ATTEMPTS)):
        # A file, or a link: what it leads to stays.
        path.unlink(missing_ok=True)
        try:
            return open(path, "xb", buffering=buffering, opener=opener)
        except FileExistsError:
            if not left:
                raise
    raise AssertionError("not reached")


def mode_of(path: Path, otherwise: int) -> int:
    """The rights of the file that is to be replaced; ``otherwise``: there is none."""
    try:
        return stat.S_IMODE(path.stat().st_mode) & 0o777
    except OSError:
        return otherwise


def target_of(path: Path) -> Path:
    """Where a file is written that may be a link of the user's own. Raises BadOutput for a link of
    somebody else's, as Linux does in /tmp (fs.protected_symlinks).
    """
    if is_link_of_another(path):
        raise BadOutput(f"can't write {str(path)!r}: it is a link of another user's")
    return path.resolve()


def is_link_of_another(path: Path) -> bool:
    """Whether neither this user nor the owner of its folder has made a link."""
    try:
        found = path.lstat()
        owners = (os.geteuid(), path.parent.stat().st_uid)
    except OSError:
        return False
    return stat.S_ISLNK(found.st_mode) and found.st_uid not in owners
