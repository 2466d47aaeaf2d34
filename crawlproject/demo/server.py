"""The demo site on a port of this machine.

with serve() as demo:
    crawl(demo.url)
"""

from __future__ import annotations

import contextlib
import re
import socket
import sys
import threading
from email.utils import parsedate_to_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

from crawlproject.demo import site

if TYPE_CHECKING:
    from types import TracebackType

HOST_HEADER = re.compile(r"[A-Za-z0-9.-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")
IDLE_SECONDS = 30


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    # Head and body leave in one packet, at once: small answers do not wait for an ACK.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        answer = site.answer(self.path, self._base())
        if answer.delay_seconds and self.server.closing.wait(answer.delay_seconds):
            self.close_connection = True
            return
        unchanged = answer.status == 200 and self._has(answer.headers.get("Last-Modified"))
        self.send_response(304 if unchanged else answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if not unchanged:
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD" and not unchanged:
            self.wfile.write(answer.body)

    do_HEAD = do_GET  # noqa: N815

    def _base(self) -> str:
        """The address as the client spells it, so that the sitemap's links are in its scope."""
        host = self.headers.get("Host", "")
        if not HOST_HEADER.fullmatch(host):
            host = f"127.0.0.1:{self.server.server_port}"
        return f"http://{host}"

    def _has(self, last_modified: str | None) -> bool:
        """Whether the client says that it holds the version of that date."""
        since = self.headers.get("If-Modified-Since")
        if last_modified is None or since is None:
            return False
        try:
            return parsedate_to_datetime(since) >= parsedate_to_datetime(last_modified)
        except (TypeError, ValueError):  # no date, or one without a time zone
            return False

    def version_string(self) -> str:
        return "Thistlemere"

    def log_message(self, *_: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    # A forgotten server must not keep the interpreter from ending.
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int) -> None:
        self.closing = threading.Event()
        self._connections: dict[socket.socket, threading.Thread] = {}
        super().__init__(("127.0.0.1", port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(
            target=self.process_request_thread, args=(request, client_address), daemon=True
        )
        self._connections[request] = thread
        thread.start()

    def shutdown_request(self, request: Any) -> None:
        self._connections.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):  # clients come and go
            super().handle_error(request, client_address)

    def disconnect(self) -> None:
        """End the connections that clients keep open, and the threads that serve them."""
        self.closing.set()
        for connection, thread in list(self._connections.items()):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            thread.join()


class DemoServer:
    """The site, served by threads of this process until ``close``."""

    def __init__(self, port: int = 0) -> None:
        self._server = _Server(port)
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}/"
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.05},
            name="demo-site",
            daemon=True,
        )
        self._thread.start()

    def close(self) -> None:
        """Stop, without waiting for clients. May be called twice."""
        self._server.shutdown()
        self._thread.join()
        self._server.disconnect()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def serve(port: int = 0) -> DemoServer:
    """Serve the demo site on 127.0.0.1, on a free port unless one is given."""
    return DemoServer(port)
