"""A worker's process: ``scrapy`` with the arguments, which ends when its supervisor does.

However that ends: standard input is a pipe that nobody else holds, and it is closed then. The
worker stops as after Ctrl-C, so what it has is handed back.
"""

from __future__ import annotations

import os
import signal
import sys
import threading


def _follow_supervisor() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_follow_supervisor, daemon=True).start()
    try:
        # Here, because the imports are most of the time in which Ctrl-C may come.
        from scrapy.cmdline import execute

        execute(["scrapy", *sys.argv[1:]])
    except KeyboardInterrupt:
        sys.exit(130)
