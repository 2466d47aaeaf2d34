"""The test site does as its spec says, and its log can be trusted."""

from __future__ import annotations

import base64
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from html.parser import HTMLParser
from http.client import HTTPConnection, RemoteDisconnected
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest

from tests.site import fixture
from tests.site.generated import Generated
from tests.site.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Start = Callable[..., fixture.Site]

site = fixture.site


def get(url: str) -> bytes:
    with urlopen(url, timeout=30) as response:
        body: bytes = response.read()
    return body


def links(body: bytes) -> list[str]:
    found: list[str] = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "a":
                found.append(dict(attrs)["href"] or "")

    Parser().feed(body.decode())
    return found


def send_raw(started: fixture.Site, request: bytes) -> bytes:
    """All that comes back until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", started.port), timeout=30) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "the condition never came true"
        time.sleep(0.005)


def test_log_tells_each_request(site: Start) -> None:
    started = site({"pages": {"/": {"delay": 0.05}}})
    before = time.monotonic()
    with closing(HTTPConnection("127.0.0.1", started.port)) as connection:
        for path in ("/", "/missing?a=b"):
            connection.request("GET", path, headers={"User-Agent": "tester"})
            connection.getresponse().read()
    after = time.monotonic()
    first, second = started.log()
    assert first["end"] - first["start"] >= 0.05
    assert before < first["start"] < first["end"] < second["start"] < second["end"] < after
    assert (first["id"], first["path"], first["status"]) == (1, "/", 200)
    assert (second["id"], second["path"], second["status"]) == (2, "/missing?a=b", 404)
    assert first["host"] == f"127.0.0.1:{started.port}"
    assert first["user_agent"] == first["headers"]["user-agent"] == "tester"
    assert "aborted" not in first


def test_log_is_written_before_the_client_can_look(site: Start) -> None:
    started = site({"generated": {"kind": "wide", "pages": 2000}})
    for count in range(1, 11):
        get(started.url())
        assert len(started.log()) == count


def test_paths_are_in_order_and_without_robots(site: Start) -> None:
    started = site({"pages": {"/b": {}, "/a": {}}, "robots": "User-agent: *"})
    for path in ("/b", "/robots.txt", "/a", "/b"):
        get(started.url(path))
    assert started.paths() == ["/b", "/a", "/b"]
    assert len(started.log()) == 4


@pytest.mark.parametrize("words", [10, 10_000], ids=["small", "large"])
@pytest.mark.parametrize("chunked", [False, True])
def test_sequential_requests_never_seem_closer_than_they_were(
    site: Start, words: int, chunked: bool
) -> None:
    started = site({"pages": {"/": {"body": "word " * words, "chunked": chunked}}})
    moments = []
    for _ in range(20):
        asked = time.monotonic()
        get(started.url())  # each on a connection of its own
        moments.append((asked, time.monotonic()))
    pauses = [moments[n + 1][0] - moments[n][1] for n in range(19)]
    assert started.max_in_flight() == 1
    assert all(gap >= pause > 0 for gap, pause in zip(started.gaps(), pauses, strict=True))


def test_overlapping_requests_are_seen(site: Start) -> None:
    started = site({"pages": {"/": {}, "/hang": {"hang": True}}}, all_loopback=True)
    with socket.create_connection(("127.0.0.1", started.port)) as connection:
        connection.sendall(b"GET /hang HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        wait_until(lambda: len(started.open()) == 1)
        get(started.url())
        get(started.url(host="127.0.0.2"))
    wait_until(lambda: len(started.log()) == 3)
    assert started.max_in_flight() == 2
    assert started.max_in_flight("127.0.0.1") == 2
    assert started.max_in_flight("127.0.0.2") == 1
    assert max(started.gaps("127.0.0.1")) < 0
    assert started.gaps("127.0.0.2") == []
    assert len(started.gaps()) == 2


def test_drop_closes_without_an_answer(site: Start) -> None:
    started = site({"pages": {"/": {"drop": True}}})
    with pytest.raises((RemoteDisconnected, ConnectionResetError)):
        get(started.url())
    (entry,) = started.log()
    assert entry["status"] is None
    assert "aborted" not in entry


@pytest.mark.parametrize("page", [{"hang": True}, {"delay": 3600}], ids=["hang", "delay"])
def test_client_that_gives_up_is_logged_as_aborted(site: Start, page: dict[str, Any]) -> None:
    started = site({"pages": {"/": page}})
    with socket.create_connection(("127.0.0.1", started.port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        wait_until(lambda: [entry["path"] for entry in started.open()] == ["/"])
        assert started.log() == []
    wait_until(lambda: started.open() == [])
    (entry,) = started.log()
    assert (entry["status"], entry["aborted"]) == (None, True)


@pytest.mark.parametrize("chunked", [False, True])
def test_stall_sends_so_many_bytes_and_no_more(site: Start, chunked: bool) -> None:
    started = site({"pages": {"/": {"body": "abcdef", "stall_after": 4, "chunked": chunked}}})
    with socket.create_connection(("127.0.0.1", started.port), timeout=30) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        received = b""
        while b"abcd" not in received:
            received += connection.recv(65536)
    wait_until(lambda: len(started.log()) == 1)
    assert b"abcde" not in received
    assert (b"Content-Length: 6" in received) is not chunked
    assert started.log()[0] | {"status": 200, "aborted": True} == started.log()[0]


def test_endless_body_ends_with_the_client(site: Start) -> None:
    started = site({"pages": {"/": {"body": "x" * 10_000, "endless": True}}})
    with urlopen(started.url(), timeout=30) as response:
        assert response.read(1_000_000) == b"x" * 1_000_000
    wait_until(lambda: started.open() == [])
    assert started.log()[0]["aborted"] is True


@pytest.mark.parametrize("body", ["", "é" * 10, "long " * 100_000])
def test_chunked_body_arrives_whole_and_the_connection_stays(site: Start, body: str) -> None:
    started = site({"pages": {"/": {"body": body, "chunked": True}}})
    with closing(HTTPConnection("127.0.0.1", started.port, timeout=30)) as connection:
        for _ in range(2):
            connection.request("GET", "/")
            local_port = connection.sock.getsockname()[1]
            response = connection.getresponse()
            assert response.headers["Transfer-Encoding"] == "chunked"
            assert response.read().decode() == body
        assert connection.sock.getsockname()[1] == local_port


def test_head_is_answered_without_a_body(site: Start) -> None:
    started = site({"pages": {"/": {"body": "12345"}}})
    answer = send_raw(started, b"HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert b"Content-Length: 5\r\n" in answer
    assert answer.endswith(b"\r\n\r\n")
    assert started.log()[0]["method"] == "HEAD"


def test_http_1_0_client_gets_a_plain_body_and_the_end(site: Start) -> None:
    started = site({"pages": {"/": {"body": "plain", "chunked": True}}})
    answer = send_raw(started, b"GET / HTTP/1.0\r\n\r\n")
    assert b"chunked" not in answer
    assert answer.endswith(b"\r\n\r\nplain")


def test_pipelined_requests_are_answered_in_order(site: Start) -> None:
    started = site({"pages": {"/1": {"body": "one", "delay": 0.01}, "/2": {"body": "two"}}})
    request = b"GET /%d HTTP/1.1\r\nHost: x\r\n%b\r\n"
    answer = send_raw(started, request % (1, b"") + request % (2, b"Connection: close\r\n"))
    assert answer.index(b"one") < answer.index(b"two")
    assert started.paths() == ["/1", "/2"]


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /" + b"x" * (1 << 21) + b" HTTP/1.1\r\n\r\n",
    ],
    ids=["line", "length", "chunks", "long"],
)
def test_what_is_not_http_gets_400(site: Start, request_bytes: bytes) -> None:
    started = site({"pages": {"/": {}}})
    with socket.create_connection(("127.0.0.1", started.port), timeout=30) as connection:
        try:
            connection.sendall(request_bytes)
            assert connection.recv(12) == b"HTTP/1.1 400"
        except ConnectionError:  # the server need not read all of it
            assert len(request_bytes) > 1 << 20
    assert started.log() == []
    assert get(started.url())


def test_unsupported_method_gets_405(site: Start) -> None:
    started = site({"pages": {"/": {}}})
    request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc"
    assert send_raw(started, request).startswith(b"HTTP/1.1 405 ")
    assert started.log()[0]["status"] == 405


def test_page_fields_shape_the_answer(site: Start) -> None:
    started = site(
        {
            "pages": {
                "/moved": {"redirect": "/to?port={port}"},
                "/found": {"redirect": "/to", "status": 302},
                "/cookies": {"headers": {"Set-Cookie": ["a=1", "b=2"]}, "body": ""},
                "/bytes": {
                    "body_base64": base64.b64encode(b"\xff\x00").decode(),
                    "content_type": "application/x-test",
                },
                "/page": {"title": "A & B", "links": ["/a?b=1&c=2", "http://127.0.0.2:{port}/"]},
                "/café": {"body": "non-ASCII"},
                "/q?a=1": {"body": "query"},
                "/q": {"body": "path"},
                "/none": {"status": 204},
            },
            "default": {"status": 418, "body": "teapot"},
        }
    )
    with closing(HTTPConnection("127.0.0.1", started.port, timeout=30)) as connection:

        def ask(path: str) -> tuple[int, Any, bytes]:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.headers, response.read()

        status, headers, _ = ask("/moved")
        assert (status, headers["Location"]) == (301, f"/to?port={started.port}")
        assert ask("/found")[0] == 302
        assert ask("/cookies")[1].get_all("Set-Cookie") == ["a=1", "b=2"]
        status, headers, body = ask("/bytes")
        assert (headers["Content-Type"], body) == ("application/x-test", b"\xff\x00")
        body = ask("/page")[2]
        assert b"<title>A &amp; B</title>" in body
        assert links(body) == ["/a?b=1&c=2", started.url(host="127.0.0.2")]
        assert ask("/caf%C3%A9")[2] == b"non-ASCII"
        assert [ask(path)[2] for path in ("/q?a=1", "/q?a=2", "/q")] == [b"query", b"path", b"path"]
        assert ask("/none")[::2] == (204, b"")
        assert ask("/else")[::2] == (418, b"teapot")


def test_raw_and_lying_answers_end_the_connection(site: Start) -> None:
    started = site(
        {
            "pages": {
                "/raw": {"raw": "HTTP/9 \xff\r\n"},
                "/lie": {"body": "short", "headers": {"Content-Length": "99"}},
            }
        }
    )
    assert send_raw(started, b"GET /raw HTTP/1.1\r\nHost: x\r\n\r\n") == b"HTTP/9 \xff\r\n"
    answer = send_raw(started, b"GET /lie HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b"Content-Length: 99\r\n" in answer
    assert b"Content-Length: 5\r\n" not in answer
    assert answer.endswith(b"short")


def test_times_change_the_nth_answer(site: Start) -> None:
    times = {"1": {"status": 503}, "3": {"body": "third"}}
    started = site({"pages": {"/": {"body": "usual", "times": times}}})
    with closing(HTTPConnection("127.0.0.1", started.port, timeout=30)) as connection:
        answers = []
        for _ in range(4):
            connection.request("GET", "/")
            response = connection.getresponse()
            answers.append((response.status, response.read()))
    assert answers == [(503, b"usual"), (200, b"usual"), (200, b"third"), (200, b"usual")]


@pytest.mark.parametrize(
    ("robots", "status", "body"),
    [
        (None, 404, b""),
        ("User-agent: *\n", 200, b"User-agent: *\n"),
        ({"status": 503}, 503, b""),
        ({"body": "x", "times": {"1": {"status": 429}}}, 429, b"x"),
    ],
)
def test_robots(site: Start, robots: object, status: int, body: bytes) -> None:
    started = site({"robots": robots, "generated": {"kind": "chain", "pages": 2}})
    with closing(HTTPConnection("127.0.0.1", started.port, timeout=30)) as connection:
        connection.request("GET", "/robots.txt")
        response = connection.getresponse()
        assert (response.status, response.read()) == (status, body)


def test_hosts_may_differ(site: Start) -> None:
    started = site(
        {"pages": {"/": {"body": "any"}}, "hosts": {"127.0.0.9": {"pages": {"/": {"body": "9"}}}}},
        all_loopback=True,
    )
    hosts = ("127.0.0.1", "127.1.2.3", "127.0.0.9")
    assert [get(started.url(host=host)) for host in hosts] == [b"any", b"any", b"9"]
    assert [entry["host"].split(":")[0] for entry in started.log()] == list(hosts)


def test_set_swaps_the_site_and_is_not_logged(site: Start) -> None:
    started = site({"pages": {"/": {"body": "old"}}})
    assert get(started.url()) == b"old"
    started.set({"pages": {"/": {"body": "new"}}})
    assert get(started.url()) == b"new"
    with pytest.raises(ValueError, match="no such kind"):
        started.set({"generated": {"kind": "spiral"}})
    assert get(started.url()) == b"new"
    assert started.paths() == ["/", "/", "/"]


def test_stop_keeps_the_log_and_ends_open_requests(site: Start) -> None:
    started = site({"pages": {"/": {}, "/hang": {"hang": True}}})
    get(started.url())
    with socket.create_connection(("127.0.0.1", started.port)) as connection:
        connection.sendall(b"GET /hang HTTP/1.1\r\nHost: x\r\n\r\n")
        wait_until(lambda: len(started.open()) == 1)
        started.stop()
    started.stop()
    assert started.paths() == ["/", "/hang"]
    assert started.log()[1]["aborted"] is True
    with pytest.raises(OSError, match="refused"):
        get(started.url())


def test_a_site_can_come_back_on_its_port(site: Start) -> None:
    started = site({"pages": {"/": {"body": "before"}}})
    get(started.url())
    started.stop()
    again = site({"pages": {"/": {"body": "after"}}}, port=started.port)
    assert get(started.url()) == get(again.url()) == b"after"


def test_wrong_spec_does_not_start(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="ended with 1"):
        fixture.Site({"pages": {"/": {"delay": "soon"}}})
    assert "soon" in capfd.readouterr().err


@pytest.mark.parametrize("ending", ["eof", signal.SIGTERM])
def test_server_ends_with_its_parent_or_on_a_signal(
    tmp_path: Path, ending: str | signal.Signals
) -> None:
    spec, log = tmp_path / "spec.json", tmp_path / "log.jsonl"
    spec.write_text("{}")
    process = subprocess.Popen(
        [sys.executable, str(fixture.SERVER), "--until-eof", f"--spec={spec}", f"--log={log}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert int(process.stdout.readline()) > 0
    if isinstance(ending, signal.Signals):
        process.send_signal(ending)
        process.wait(30)  # stdin is still open
    assert process.communicate(timeout=30) == ("", "")
    assert process.returncode == 0


def test_random_delays_depend_on_path_and_seed_alone() -> None:
    def delays(seed: int, order: list[str]) -> dict[str, float]:
        spec = Spec({"random_delay": [1, 3], "seed": seed})
        return {path: spec.answer(path).delay for path in order}

    paths = [f"/{number}" for number in range(50)]
    one = delays(1, paths)
    assert one == delays(1, paths[::-1])
    assert one != delays(2, paths)
    assert all(1 <= delay <= 3 for delay in one.values())
    assert max(one.values()) - min(one.values()) > 1
    assert Spec({"random_delay": [1, 3], "robots": ""}).answer("/robots.txt").delay == 0


@pytest.mark.parametrize(
    ("settings", "pages"),
    [
        ({"kind": "tree", "fan": 3, "depth": 4}, 121),
        ({"kind": "tree", "fan": 1, "depth": 0}, 1),
        ({"kind": "chain", "pages": 30}, 30),
        ({"kind": "wide", "pages": 100}, 101),
        ({"kind": "mesh", "pages": 300, "links": 7, "seed": 5}, 300),
    ],
)
def test_generated_pages_are_all_within_reach(settings: dict[str, Any], pages: int) -> None:
    generated = Generated(settings)
    seen, queue = {"/"}, ["/"]
    texts = set()
    while queue:
        fields = generated.fields(queue.pop())
        assert fields is not None
        texts.add(fields["text"])
        new = set(fields["links"]) - seen
        seen |= new
        queue += new
    assert len(seen) == len(texts) == pages
    assert generated.fields(generated.path(pages)) is None


def test_generated_pages_are_the_same_in_every_run() -> None:
    settings = {"kind": "mesh", "pages": 50, "links": 5}
    first, second = Generated(settings), Generated(settings)
    other = Generated(settings | {"seed": 1})
    assert first.fields("/mesh/7") == second.fields("/mesh/7") != other.fields("/mesh/7")


@pytest.mark.parametrize("path", ["/mesh/", "/mesh/07", "/mesh/0", "/mesh/²", "/mesh/50", "/x"])
def test_generated_site_has_one_spelling_a_page(path: str) -> None:
    assert Generated({"kind": "mesh", "pages": 50}).fields(path) is None


def test_a_page_with_twenty_thousand_links(site: Start) -> None:
    started = site({"generated": {"kind": "wide", "pages": 20_000}})
    found = links(get(started.url()))
    assert len(set(found)) == len(found) == 20_000
    assert links(get(started.url(found[-1]))) == ["/"]


def test_written_pages_come_before_generated_ones(site: Start) -> None:
    generated = {"kind": "chain", "pages": 3}
    started = site({"generated": generated, "pages": {"/chain/1": {"body": "written"}}})
    assert get(started.url("/chain/1")) == b"written"
    assert b"/chain/1" in get(started.url())
