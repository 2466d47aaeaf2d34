"""A worker's process: ``scrapy`` with the arguments, which ends when its supervisor does.

However that ends: standard input is a pipe that nobody else holds, and it is closed then. The
worker stops as after Ctrl-C, so what it has is handed back.

The first line of standard input has the options, as a JSON list: everybody can read a command
line, and there may be a password among them.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading


def _read_options() -> list[str]:
    line = bytearray()
    # Byte by byte, so that nothing behind the line is taken.
    while (byte := os.read(0, 1)) != b"\n":
        if not byte:
            sys.exit("the supervisor has ended before this worker had its options")
        line += byte
    options: list[str] = json.loads(line)
    return options


def _follow_supervisor() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    options = _read_options()
    threading.Thread(target=_follow_supervisor, daemon=True).start()
    try:
        # Here, because the imports are most of the time in which Ctrl-C may come.
        from scrapy.cmdline import execute

        execute(["scrapy", *sys.argv[1:], *options])
    except KeyboardInterrupt:
        sys.exit(130)
