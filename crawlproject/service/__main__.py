"""``./scripts/serve [--demo] [--port N] [--bind ADDRESS]``: the service, from its scrapyd.conf.

The same as ``scrapyd`` in a folder with that file, with errors in one line, and a first command
to try.
"""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from crawlproject.errors import BadInput
from crawlproject.extras import how_to_install
from crawlproject.monitoring.streams import tell

# As ./scripts/crawl has it.
_DEMO_PORT = 8765


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadInput(message)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = _Parser(
        prog="./scripts/serve",
        description="Start the crawl service: job API, live page, metrics. Its options are in "
        "scrapyd.conf; docs/operations.md says more.",
    )
    parser.add_argument("--demo", action="store_true", help="serve the demo site, too, to crawl it")
    parser.add_argument("--port", help="where to listen (http_port in scrapyd.conf: 6800)")
    parser.add_argument("--bind", metavar="ADDRESS", help="… (bind_address: 127.0.0.1)")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> None:
    options = _options(arguments)
    try:
        # Here, because what it needs is an extra.
        from crawlproject.service.starting import allow_internal, configured, run
    except ImportError as error:
        raise BadInput(f"{error.name} is not installed: {how_to_install('service')}") from None
    config = configured(options.port, options.bind)
    if not options.demo:
        run(config)
        return
    from crawlproject.demo.server import serve

    allow_internal(config)
    try:
        demo = serve(_DEMO_PORT)
    except OSError:
        demo = serve()
    with demo:
        run(config, demo.url)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BadInput as problem:
        tell(f"serve: error: {problem}")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
