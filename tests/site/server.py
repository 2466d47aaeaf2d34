"""The test site: an HTTP server that does as its spec says and logs every request.

    python tests/site/server.py --spec spec.json --log log.jsonl

Its port is the first line of its output. It writes its own HTTP, since a test wants
answers that no library would give. The log has a line for each request, written when the
request ends::

    {"id": 1, "host": "127.0.0.1:4711", "address": "127.0.0.1", "method": "GET",
     "path": "/a?b=c", "start": seconds, "end": seconds, "status": 200, "user_agent": …,
     "headers": {…}, "aborted": true}

``address`` is the one that the client connected to.

``start`` is when the request line was read, ``end`` when the last bytes were about to be
handed to the kernel, by the machine's monotonic clock: so no client can have its answer
before ``end``, and a client that waits n seconds between answer and request leaves at least
n seconds between ``end`` and ``start``, however busy the machine is.
``status`` is null when no answer was begun.
``aborted`` is there if the client (or the end of the server) did not wait for the answer;
``end`` is then when that was noticed. A client that closes its sending side while the
server waits counts as gone.

Not logged: ``PUT /__spec__`` swaps the spec, ``GET /__state__`` tells the open requests.
One thread does it all: whoever has an answer and then asks for the state finds the answer's
line written when the state comes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import time
from pathlib import Path
from typing import Any, TextIO

# Started by its path, and without site-packages for speed: say where the packages are.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.site.spec import Page, Spec, load
from tests.site.wire import (
    LINE_LIMIT,
    BadRequestError,
    ClientGoneError,
    Protocol,
    Request,
    read_request,
    send,
    wait,
)


class Server:
    def __init__(self, log: TextIO) -> None:
        self._log = log
        self._spec, self._hosts = Spec({}), dict[str, Spec]()
        self._open: dict[int, dict[str, Any]] = {}
        # Requests that wait for others to come.
        self._gathering: list[asyncio.Future[None]] = []
        self._last_id = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def listen(self, address: str, port: int) -> asyncio.Server:
        server = await asyncio.get_running_loop().create_server(
            lambda: Protocol(asyncio.StreamReader(LINE_LIMIT), self._connected),
            address,
            port,
            backlog=1024,
        )
        self.port = server.sockets[0].getsockname()[1]
        return server

    def set(self, text: str) -> None:
        self._spec, self._hosts = load(text, self.port)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._converse(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # drain() then waits until the kernel has every byte.
        writer.transport.set_write_buffer_limits(high=0)
        try:
            try:
                while request := await read_request(reader):
                    if not await self._handle(request, writer):
                        break
            except BadRequestError as error:
                await send(writer, Page("", {"status": 400, "body": f"{error}\n"}))
        except (ConnectionError, ClientGoneError):
            pass
        finally:
            writer.close()

    async def close(self) -> None:
        """End all conversations; requests that are still open are logged as aborted."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _handle(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Answer a request. Returns whether the connection may have another."""
        if request.path.startswith("/__"):
            return await send(writer, self._control(request), request)
        self._last_id += 1
        entry: dict[str, Any] = {
            "id": self._last_id,
            "host": request.headers.get("host"),
            "address": writer.get_extra_info("sockname")[0],
            "method": request.method,
            "path": request.path,
            "start": request.start,
            "end": None,
            "status": None,
            "user_agent": request.headers.get("user-agent"),
            "headers": request.headers,
        }
        self._open[self._last_id] = entry
        try:
            return await self._answer(request, writer, entry)
        except (ConnectionError, ClientGoneError, asyncio.CancelledError):
            entry |= {"end": time.monotonic(), "aborted": True}
            raise
        finally:
            entry["end"] = entry["end"] or time.monotonic()
            del self._open[entry["id"]]
            self._log.write(json.dumps(entry) + "\n")

    async def _answer(
        self, request: Request, writer: asyncio.StreamWriter, entry: dict[str, Any]
    ) -> bool:
        host = request.headers.get("host", "").partition(":")[0]
        spec = self._hosts.get(host, self._spec)
        page = spec.answer(request.path)
        asked = request.method, request.path, request.headers, request.body
        if spec.login and (fields := spec.login.answer(*asked)) is not None:
            page = Page(request.path, fields)
        elif request.method not in {"GET", "HEAD"}:
            page = Page("", {"status": 405, "body": "", "headers": {"Allow": "GET, HEAD"}})

        if page.is_unchanged(request.headers):
            page.status, page.body = 304, b""

        def end() -> None:
            entry["end"] = time.monotonic()

        if page.together > 1:
            await self._gather(page.together)
        if page.delay:
            await wait(writer, page.delay)
        if page.hang:
            await wait(writer, None)
        if page.drop:
            end()
            writer.transport.abort()
            return False
        if page.raw is not None:
            end()
            writer.write(page.raw.encode("latin-1"))
            await writer.drain()
            return False
        entry["status"] = page.status
        return await send(writer, page, request, end)

    async def _gather(self, size: int) -> None:
        """Return when so many have come here."""
        complete = asyncio.get_running_loop().create_future()
        self._gathering.append(complete)
        if len(self._gathering) == size:
            for future in self._gathering:
                if not future.done():
                    future.set_result(None)
            self._gathering.clear()
        await complete

    def _control(self, request: Request) -> Page:
        if (request.method, request.path) == ("PUT", "/__spec__"):
            try:
                self.set(request.body.decode())
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                return Page("", {"status": 400, "body": f"{type(error).__name__}: {error}"})
            return Page("", {"body": ""})
        if (request.method, request.path) == ("GET", "/__state__"):
            body = json.dumps({"open": list(self._open.values())})
            return Page("", {"body": body, "content_type": "application/json"})
        return Page("", {"status": 404, "body": ""})


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--spec", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--bind-all-loopback", action="store_true", help="127.x.y.z are hosts")
    parser.add_argument("--until-eof", action="store_true", help="end when stdin is closed")
    options = parser.parse_args()
    done = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, done.set)
    if options.until_eof:
        loop.add_reader(0, done.set)
    with options.log.open("a", buffering=1, encoding="utf-8") as log:
        server = Server(log)
        address = "0.0.0.0" if options.bind_all_loopback else "127.0.0.1"
        listener = await server.listen(address, options.port)
        server.set(options.spec.read_text(encoding="utf-8"))
        print(server.port, flush=True)
        await done.wait()
        listener.close()
        await server.close()


if __name__ == "__main__":
    asyncio.run(main())
