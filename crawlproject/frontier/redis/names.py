"""What workers are called: by the name, a dead one is told by who is on the same machine.

So whoever is started again after a kill need not wait until the lease of the dead one has run
out. Processes have the same numbers on other machines, and in other containers; so the name has
a mark of both, and where they can't be told, nobody is taken for dead.
"""

from __future__ import annotations

import os
import socket
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE = Path("/proc/self/ns/pid")
_UNKNOWN = "x"


def worker_name() -> str:
    """Nobody else's."""
    host = "".join(letter for letter in socket.gethostname() if letter.isalnum() or letter in "-.")
    return f"{host[:32] or 'worker'}-{os.getpid()}-{_place()}-{token_hex(3)}"


def is_dead(name: str) -> bool:
    """Whether a worker was a process of this machine that is gone."""
    parts = name.rsplit("-", 3)
    if len(parts) != 4 or not parts[1].isdigit() or parts[2] == _UNKNOWN or parts[2] != _place():
        return False
    try:
        os.kill(int(parts[1]), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _place() -> str:
    """A mark of this machine since its start, and of the container."""
    try:
        text = f"{_BOOT.read_text()} {_NAMESPACE.stat().st_ino}"
    except OSError:
        return _UNKNOWN
    return blake2b(text.encode(), digest_size=4).hexdigest()
