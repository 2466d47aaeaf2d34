"""A folder as a web site on a free port of this machine, served by another process.

Another process, so that what serving costs is not counted: nginx where there is one, or can
be (for root, where there is apt-get), else Python's own server, which is slower but serves
the same bytes.

``python -m bench.server FOLDER`` is that second one. It prints its port, and ends when its
standard input does, so that it cannot outlive whoever started it.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.site import ALONE

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "127.0.0.1"
START_SECONDS = 10.0
STOP_SECONDS = 5.0
# A port that was free may be taken before nginx has it.
_PORTS_TRIED = 3

# One process, without a master: its id is the one to stop, and it reads what its starter may.
_NGINX = """\
daemon off;
master_process off;
pid {work}/nginx.pid;
error_log {work}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {work}/body;
    proxy_temp_path {work}/proxy;
    fastcgi_temp_path {work}/fastcgi;
    uwsgi_temp_path {work}/uwsgi;
    scgi_temp_path {work}/scgi;
    types {{ text/html html; text/plain txt; }}
    charset utf-8;
    sendfile on;
    tcp_nodelay on;
    keepalive_timeout 60;
    server {{
        listen {host}:{port};
        root {root};
        index index.html;
    }}
}}
"""


class NoServer(Exception):
    """The server did not come up; the message says why."""


class Served(NamedTuple):
    url: str
    # Who serves, with the version, and why not nginx, if it is another.
    server: str
    note: str | None = None


@contextlib.contextmanager
def serve(root: Path, work: Path, kind: str = "auto") -> Iterator[Served]:
    """Serve ``root`` by ``kind``: nginx, python or auto; ``work`` is for the server's own files."""
    note = None
    with contextlib.ExitStack() as stack:
        served = None
        if kind != "python":
            try:
                served = stack.enter_context(_nginx(root, work))
            except NoServer as reason:
                if kind == "nginx":
                    raise
                note = f"not nginx: {reason}"
        if served is None:
            served = stack.enter_context(_python(root))
        yield served._replace(note=note)


@contextlib.contextmanager
def _nginx(root: Path, work: Path) -> Iterator[Served]:
    program = shutil.which("nginx", path=_path_with_sbin()) or _install_nginx()
    if program is None:
        raise NoServer("it is not installed, and only root can, by apt-get")
    for path in (root, work):
        if any(char in str(path) for char in " \t\n;{}'\"\\$"):
            raise NoServer(f"its configuration cannot name the folder {str(path)!r}")
    work.mkdir(parents=True, exist_ok=True)
    for attempt in range(1, _PORTS_TRIED + 1):
        port = free_port()
        (work / "nginx.conf").write_text(
            _NGINX.format(work=work, root=root, host=HOST, port=port), encoding="utf-8"
        )
        log = work / "error.log"
        command = [program, "-p", str(work), "-e", str(log), "-c", str(work / "nginx.conf")]
        with running(command, stdin=subprocess.DEVNULL) as process:
            if _answers(process, port, root):
                yield Served(f"http://{HOST}:{port}/", _version_of(program))
                return
        if attempt == _PORTS_TRIED:
            raise NoServer(f"it does not start: {_last_line(log)}")


@contextlib.contextmanager
def _python(root: Path) -> Iterator[Served]:
    command = [sys.executable, "-m", "bench.server", str(root)]
    # The package is found from wherever the benchmark was started.
    place = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    with running(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=place
    ) as process:
        line = process.stdout.readline().strip() if process.stdout else ""
        if not line.isdigit() or not _answers(process, int(line), root):
            raise NoServer(f"{' '.join(command)} does not start")
        yield Served(f"http://{HOST}:{line}/", f"python/{sys.version.split()[0]}")


@contextlib.contextmanager
def running(command: list[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that has ended when the block has, whatever happens in it."""
    process: subprocess.Popen[str] = subprocess.Popen(  # noqa: S603  (a server of ours)
        # In a session of its own: Ctrl-C must not end it before those who use it.
        command,
        start_new_session=True,
        **options,
    )
    with process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _answers(process: subprocess.Popen[str], port: int, root: Path) -> bool:
    """Wait until the process serves the folder, and not somebody else at that port."""
    expected = (root / ALONE).read_bytes()
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        connection = http.client.HTTPConnection(HOST, port, timeout=START_SECONDS)
        try:
            connection.request("GET", f"/{ALONE}")
            if connection.getresponse().read() == expected:
                return True
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        # It does not listen yet, and nothing tells when it does.
        time.sleep(0.02)
    return False


def _install_nginx() -> str | None:
    apt_get = shutil.which("apt-get", path=_path_with_sbin())
    if apt_get is None or os.geteuid() != 0:
        return None
    print("bench: installing nginx, to serve the site (apt-get install nginx) …", file=sys.stderr)
    # In the runlevel of one user no service is started: a web server on port 80 was not asked for.
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    for arguments in (["update", "-qq"], ["install", "-qq", "--no-install-recommends", "nginx"]):
        # A failed update may still know of nginx.
        subprocess.run(  # noqa: S603  (apt-get, by its full path)
            [apt_get, "-y", *arguments], env=quiet, stdout=subprocess.DEVNULL, check=False
        )
    return shutil.which("nginx", path=_path_with_sbin())


def _path_with_sbin() -> str:
    """Where programs are. Users other than root often lack the folder that nginx is in."""
    return os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin"))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _version_of(program: str) -> str:
    said = subprocess.run(  # noqa: S603  (nginx, by its full path)
        [program, "-v"], capture_output=True, text=True, check=False
    )
    return said.stderr.strip().rpartition(" ")[2] or "nginx"


def _last_line(log: Path) -> str:
    with contextlib.suppress(OSError):
        if lines := log.read_text(encoding="utf-8", errors="replace").split("\n"):
            return next((line for line in reversed(lines) if line.strip()), "it says nothing")
    return "it says nothing"


class _Handler(SimpleHTTPRequestHandler):
    # Connections stay open, and head and body leave together, as nginx does it.
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    extensions_map = {  # noqa: RUF012  (the base class has it so)
        ".html": "text/html; charset=utf-8",
        ".txt": "text/plain; charset=utf-8",
        "": "application/octet-stream",
    }

    def log_message(self, *_: Any) -> None:
        pass


def main(root: str) -> None:
    server = ThreadingHTTPServer((HOST, 0), partial(_Handler, directory=root))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    while os.read(0, 65536):
        pass


if __name__ == "__main__":
    main(sys.argv[1])
