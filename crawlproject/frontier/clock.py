"""The frontier's time: seconds of the epoch, so that they mean the same after a restart.

Within a process they never go back, whatever is done to the system's clock.
"""

from __future__ import annotations

import time

_BEGAN = time.time() - time.monotonic()


def now() -> float:
    return _BEGAN + time.monotonic()
