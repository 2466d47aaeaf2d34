"""``python -m crawlproject [cluster]``: see ``commands/launch.py``."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    try:
        # Here, because the imports are most of the time in which Ctrl-C may come.
        from crawlproject.commands.launch import CLUSTER, main

        if sys.argv[1:2] == [CLUSTER]:
            main(sys.argv[2:], CLUSTER)
        else:
            main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
