"""What a client can do to the service: hold connections, block it, or make it fail."""

from __future__ import annotations

import socket
from base64 import b64encode
from contextlib import closing, suppress
from http.client import HTTPConnection
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest
from urllib3.filepost import encode_multipart_formdata

from crawlproject.service.guard import HARMLESS
from tests.crawling import PROJECT
from tests.service.serving import PASSWORD, USER, Service
from tests.waiting import PATIENCE, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# Long enough for a request that is sent at once, on a busy machine.
_UNHURRIED = {
    "header_seconds": "60",
    "body_seconds": "60",
    "idle_seconds": "60",
    "response_seconds": "60",
}

_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_SECRET = {"Authorization": f"Basic {b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}"}


def service_in(folder: Path, options: Mapping[str, str], *, is_protected: bool = False) -> Service:
    """In a folder below one with our scrapy.cfg, as in the project itself: it has the project
    ``default``, too.
    """
    (folder / "scrapy.cfg").write_text((PROJECT / "scrapy.cfg").read_text())
    (folder / "service").mkdir()
    return Service(folder / "service", is_protected=is_protected, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service_in(tmp_path_factory.mktemp("service"), {"allow_internal": "no"}) as one:
        yield one


# --- connections


def connect(service: Service, buffer: int | None = None) -> socket.socket:
    client = socket.socket()
    if buffer is not None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    client.settimeout(PATIENCE)
    client.connect(("127.0.0.1", service.port))
    return client


def is_closed(client: socket.socket) -> bool:
    """Whether the server has closed a connection; whatever it said before is read."""
    client.setblocking(False)
    try:
        return client.recv(65536) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def drip(client: socket.socket, data: bytes) -> None:
    """Send a little, again and again, until the server has had enough."""

    def closed_after_a_bit() -> bool:
        if is_closed(client):
            return True
        with suppress(OSError):
            client.send(data)
        return False

    wait_for(closed_after_a_bit)


_HEAD = b"GET /daemonstatus.json HTTP/1.1\r\nHost: 127.0.0.1\r\n"
_POST = b"POST /crawl HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    ("limit", "sent", "more"),
    [
        ("header_seconds", b"", b""),
        ("header_seconds", b"G", b""),
        ("header_seconds", _HEAD, b"x"),
        ("header_seconds", _HEAD, b"X: y\r\n"),
        ("body_seconds", _POST + b"Content-Length: 100000000\r\n\r\n", b"x"),
        ("body_seconds", _POST + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        ("idle_seconds", _HEAD + b"\r\n", b""),
    ],
)
def test_a_client_that_dribbles_is_cut_off(
    dribbled: dict[str, Service], limit: str, sent: bytes, more: bytes
) -> None:
    service = dribbled[limit]
    with closing(connect(service)) as client:
        client.sendall(sent)
        drip(client, more)


@pytest.fixture(scope="module")
def dribbled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Service]]:
    """A service for each limit, which alone is short."""
    limits = ("header_seconds", "body_seconds", "idle_seconds")
    services = {
        limit: service_in(tmp_path_factory.mktemp(limit), {**_UNHURRIED, limit: "0.3"})
        for limit in limits
    }
    with services[limits[0]], services[limits[1]], services[limits[2]]:
        yield services


def test_a_second_request_has_a_time_limit_too(dribbled: dict[str, Service]) -> None:
    with closing(connect(dribbled["header_seconds"])) as client:
        client.sendall(_HEAD + b"\r\n" + _HEAD)
        drip(client, b"x")


def test_a_late_client_is_told(dribbled: dict[str, Service]) -> None:
    def is_told() -> bool:
        # On a busy machine, the time may be over before anything is sent.
        with closing(connect(dribbled["header_seconds"])) as client, suppress(OSError):
            client.sendall(_HEAD)
            return client.recv(100).startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        return False

    wait_for(is_told)


_LARGE = 32_000_000


def write_large_log(service: Service) -> None:
    log = service.folder / "var" / "logs" / "large.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"x" * _LARGE)


@pytest.mark.parametrize("connection", [b"keep-alive", b"close"])
def test_a_client_that_does_not_read_is_cut_off(tmp_path: Path, connection: bytes) -> None:
    """The response is larger than what the kernel takes."""
    with service_in(tmp_path, {**_UNHURRIED, "response_seconds": "0.3"}) as service:
        write_large_log(service)
        with closing(connect(service, buffer=4096)) as client:
            client.sendall(
                b"GET /logs/large.log HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: %b\r\n\r\n"
                % connection
            )
            # An error without reading: the server has given up.
            wait_for(lambda: client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0)


def test_who_reads_gets_all(service: Service) -> None:
    write_large_log(service)
    assert len(service.get("/logs/large.log").content) == _LARGE


def test_no_number_of_idle_connections_keeps_others_out(tmp_path: Path) -> None:
    with service_in(tmp_path, {**_UNHURRIED, "max_connections": "20"}) as service:
        idle = [connect(service) for _ in range(60)]
        try:
            assert service.get("/daemonstatus.json").status == 200
            wait_for(lambda: sum(map(is_closed, idle)) >= 40)
            assert service.get("/daemonstatus.json").status == 200
            assert service.log().count("max_connections") == 1
        finally:
            for client in idle:
                client.close()


# --- what takes time


def gated(gate: Path, ending: str) -> str:
    """A settings module that is not imported before the gate is there."""
    return (
        "import pathlib, time\n"
        f"while not pathlib.Path({str(gate)!r}).exists():\n"
        "    time.sleep(0.01)\n"
        f"{ending}\n"
    )


def test_listing_spiders_does_not_block_the_service(tmp_path: Path) -> None:
    """A project is listed only after something else was served."""
    gate = tmp_path / "gate"
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "slow_settings.py").write_text(gated(gate, "BOT_NAME = 'slow'"))
    service = service_in(tmp_path, _UNHURRIED)
    (tmp_path / "scrapy.cfg").write_text("[settings]\nslow = slow_settings\n")
    service.environment["PYTHONPATH"] += f":{tmp_path / 'modules'}"
    with service:
        first = HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)
        second = HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)
        with closing(first), closing(second):
            first.request("GET", "/listspiders.json?project=slow")
            second.request("POST", "/schedule.json", "project=slow&spider=x", _FORM)
            # Neither is answered, and everybody else is.
            for _ in range(3):
                assert service.get("/daemonstatus.json").status == 200
            gate.touch()
            assert first.getresponse().read().startswith(b'{"spiders":[],"status":"ok"')
            assert b"spider 'x' not found" in second.getresponse().read()


def test_no_job_runs_an_egg_that_is_being_tried(tmp_path: Path) -> None:
    """Nor is it listed; what was there before is, when the egg turns out to be broken."""
    gate, egg = tmp_path / "gate", BytesIO()
    with ZipFile(egg, "w") as file:
        file.writestr("EGG-INFO/PKG-INFO", "Name: team\nVersion: 9\n")
        file.writestr("EGG-INFO/entry_points.txt", "[scrapy]\nsettings = broken_settings\n")
        file.writestr("broken_settings.py", gated(gate, "raise ImportError"))
    body, kind = encode_multipart_formdata(
        {"project": "crawlproject", "version": "9", "egg": ("9.egg", egg.getvalue())}
    )
    with service_in(tmp_path, _UNHURRIED, is_protected=True) as service:
        first = HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)
        second = HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)
        with closing(first), closing(second):
            first.request("POST", "/addversion.json", body, {**_SECRET, "Content-Type": kind})
            versions = "/listversions.json?project=crawlproject"
            wait_for(lambda: service.get(versions).json["versions"] == ["9"])
            second.request("GET", "/listspiders.json?project=crawlproject", headers=_SECRET)
            job = service.order("http://127.0.0.1:1/")
            assert service.job(job)["status"] == "queued"
            service.post("/crawler/stop", {"job_id": job})
            gate.touch()
            assert first.getresponse().status == 400
            assert second.getresponse().read().startswith(b'{"spiders":["site"],"status":"ok"')
            assert service.get(versions).json["versions"] == []


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("application/x-www-form-urlencoded", b"&"),
        ("application/x-www-form-urlencoded", b"a=b&"),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\n\r\n"),
    ],
)
def test_a_form_of_many_fields_is_not_parsed(service: Service, kind: str, field: bytes) -> None:
    for count, status in ((100, 400), (1_000_000 // len(field), 413)):
        reply = service.ask(
            "POST", "/schedule.json", content=field * count, headers={"Content-Type": kind}
        )
        assert (reply.status, reply.content.count(b"\n")) == (status, 1)
    assert reply.json == {"error": "the form has more than 1,000 fields: send fewer"}


# --- one project under another name


@pytest.mark.parametrize(
    ("fields", "status", "problem"),
    [
        ({"seed": "http://127.0.0.1/"}, 400, "only public ones may be crawled here"),
        ({"seed": "https://example.invalid/", "depht": "1"}, 400, "depht: no such argument"),
        ({"seed": "https://example.invalid/", "depth": "x"}, 400, "depth: 'x' is not"),
        ({}, 400, "seed: missing"),
        ({"seeds_file": "/etc/passwd"}, 403, "seeds_file: only with a username"),
        ({"seed": "https://example.invalid/", "setting": "FEEDS={}"}, 403, "setting FEEDS"),
    ],
)
@pytest.mark.parametrize("project", ["crawlproject", "default"])
def test_the_project_default_is_checked_as_ours_is(
    service: Service, project: str, fields: dict[str, str], status: int, problem: str
) -> None:
    assert project in service.get("/listprojects.json").json["projects"]
    reply = service.form("/schedule.json", project=project, spider="site", **fields)
    assert (reply.status, reply.json["status"]) == (status, "error")
    assert problem in reply.json["message"]
    assert service.get("/crawler/jobs").json["total"] == 0


# --- odd parameters

_ODD = [
    b"",
    b"%00",
    b"a%00b",
    b"%0a",
    b"%1b%5b2J",
    b"%ff%fe",
    b"%ed%a0%80",
    b"%e2%80%ae",
    b"..",
    b"../..",
    b"%2e%2e%2f",
    b"/etc/passwd",
    b"*",
    b"[",
    b"{",
    b"[]",
    b"{}",
    b"null",
    b"-1",
    b"nan",
    b"1e999",
    b"9" * 5000,
    b"x" * 5000,
    b"%F0%9F%98%80",
    b"'\"<>&",
]
_GET = {
    "listprojects.json": (),
    "listversions.json": ("project",),
    "listspiders.json": ("project", "_version"),
    "listjobs.json": ("project",),
    "status.json": ("job", "project"),
    "daemonstatus.json": (),
}
_POSTED = {
    "schedule.json": (
        *("project", "spider", "_version", "jobid", "priority", "setting", "seed", "depth"),
        *("_job", "name", "settings", "self", "spider_name", "_project", "_spider", "message", ""),
    ),
    "cancel.json": ("project", "job", "signal"),
    "addversion.json": ("project", "version", "egg"),
    "delversion.json": ("project", "version"),
    "delproject.json": ("project",),
}
_USUAL = {
    "project": b"crawlproject",
    "spider": b"site",
    "job": b"none",
    "version": b"1",
    "seed": b"https://example.invalid/",
    "egg": b"x",
}


def odd_forms(names: tuple[str, ...]) -> Iterator[bytes]:
    """Each parameter with each odd value, twice, as an array, and missing."""
    usual = {name: _USUAL[name] for name in names if name in _USUAL}

    def form(**changed: bytes | None) -> bytes:
        fields = {**usual, **changed}
        return b"&".join(b"%b=%b" % (k.encode(), v) for k, v in fields.items() if v is not None)

    for name in names:
        for value in _ODD:
            yield form(**{name: value})
        once = name.encode() + b"=a"
        yield form(**{name: None})
        yield form() + b"&" + once + b"&" + once
        yield form() + b"&" + name.encode() + b"[]=a"
        yield form() + b"&" + name.encode()
    yield b"&" * 100
    yield b"=" * 100
    yield b"%" * 100
    yield b"a=b&" * 900


def check_all(service: Service, method: str, names: dict[str, tuple[str, ...]]) -> None:
    headers = {**_FORM, **(_SECRET if service.is_protected else {})}
    with closing(HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)) as connection:
        for path, parameters in names.items():
            for form in odd_forms(parameters):
                in_query = method == "GET"
                target = f"/{path}?{form.decode()}" if in_query else f"/{path}"
                body = None if in_query else form
                connection.request(method, target, body, headers)
                reply = connection.getresponse()
                content = reply.read()
                assert reply.status in (200, 400, 403, 409, 429), (path, form[:200], content)
                assert content.count(b"\n") == 1, (path, form[:200], content)
    assert "Traceback" not in service.log()
    assert "Unhandled" not in service.log()


def test_odd_parameters_are_refused_and_nothing_fails(tmp_path: Path) -> None:
    """No job is started here, whatever is accepted: there is no room."""
    options = {**_UNHURRIED, "max_pending": "0"}
    with service_in(tmp_path, options, is_protected=True) as service:
        assert service.get("/listspiders.json?project=crawlproject").json["spiders"] == ["site"]
        check_all(service, "GET", _GET)
        check_all(service, "POST", _POSTED)
        odd = [(name, value) for name in sorted(HARMLESS) for value in ("x", "9" * 400)]
        check_settings(service, odd)


def check_settings(service: Service, settings: list[tuple[str, str]]) -> None:
    with closing(HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)) as connection:
        for name, value in settings:
            form = "project=crawlproject&spider=site&seed=https://example.invalid/&setting="
            connection.request(
                "POST", "/schedule.json", f"{form}{name}={value}", {**_FORM, **_SECRET}
            )
            reply = connection.getresponse()
            # What is fine finds no room.
            assert reply.status in (400, 429), (name, value, reply.read())
            reply.read()


@pytest.mark.parametrize("project", ["crawlproject", "default"])
@pytest.mark.parametrize(
    "name", ["_job", "name", "settings", "self", "spider_name", "_project", "_spider"]
)
def test_a_parameter_of_scrapyds_queue_is_refused(
    service: Service, project: str, name: str
) -> None:
    for value in ("", "x", "{}"):
        order = f"project={project}&spider=site&seed=https://example.invalid/&{name}={value}"
        reply = service.ask("POST", "/schedule.json", content=order.encode(), headers=_FORM)
        assert (reply.status, reply.json["message"].count("\n")) == (400, 0)
        assert reply.json["message"].startswith(f"{name}: ")
    assert service.get("/crawler/jobs").json["total"] == 0
