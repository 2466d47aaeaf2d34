"""``python -m crawlproject.demo``: prints the demo site's address and serves it."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading

from crawlproject.demo.server import serve


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m crawlproject.demo",
        description="Serve a small site to crawl. Its address is the first line of the output.",
    )
    parser.add_argument("--port", type=int, default=0, help="default: any free port")
    parser.add_argument("--until-eof", action="store_true", help="end when stdin is closed")
    options = parser.parse_args(arguments)

    done = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: done.set())
    try:
        demo = serve(options.port)
    except (OSError, OverflowError) as error:
        print(f"cannot serve on port {options.port}: {error}", file=sys.stderr)
        return 1
    with demo:
        print(demo.url, flush=True)
        if options.until_eof:
            threading.Thread(target=_wait_for_end_of_input, args=(done,), daemon=True).start()
        done.wait()
    return 0


def _wait_for_end_of_input(done: threading.Event) -> None:
    # Not sys.stdin: its lock, held by a thread that reads, breaks the interpreter's exit.
    while os.read(0, 65536):
        pass
    done.set()


if __name__ == "__main__":
    sys.exit(main())
