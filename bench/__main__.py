"""``python -m bench [BENCHMARK] [OPTIONS]``: run one of the benchmarks."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, NoReturn

from bench import cluster, crawl, duplicates, frontier, links, polite, service, start

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BENCHMARKS: dict[str, Callable[[Sequence[str]], int]] = {
    "crawl": crawl.main,
    "links": links.main,
    "frontier": frontier.main,
    "polite": polite.main,
    "duplicates": duplicates.main,
    "cluster": cluster.main,
    "service": service.main,
    "start": start.main,
}
DEFAULT = "crawl"


def main(arguments: Sequence[str]) -> int:
    name, options = DEFAULT, list(arguments)
    if options and not options[0].startswith("-"):
        name = options.pop(0)
    if name not in BENCHMARKS:
        print(f"bench: error: {name!r} is not one of {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    return BENCHMARKS[name](options)


def _stop(number: int, frame: object) -> NoReturn:
    # As an exception, so that servers are stopped and folders removed on the way out.
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
