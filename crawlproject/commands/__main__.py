"""``python -m crawlproject.commands``: as ``scrapy``, but quiet if Ctrl-C comes at the start."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    try:
        # Here, because the imports are most of the time in which Ctrl-C may come.
        from scrapy.cmdline import execute

        execute(["scrapy", *sys.argv[1:]])
    except KeyboardInterrupt:
        sys.exit(130)
