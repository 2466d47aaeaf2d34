"""Render a page that tries to bypass the crawler's network, and print what arrived, as JSON.

Run by ``test_browser.py`` in a network namespace that has only a loopback interface, so that
whatever gets out of the browser stays on this machine. Without arguments the browser is as a crawl
starts it; with ``--unconfined`` the switches that confine it are reset, to show that each attempt
would arrive.
"""

from __future__ import annotations

import fcntl
import json
import socket
import struct
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from tests.crawling import scrapy
from tests.site.fixture import Site

if TYPE_CHECKING:
    from collections.abc import Callable

_SET_FLAGS, _UP = 0x8914, 1
# Without it WebRTC ignores a loopback interface, and nothing would be shown.
_LOOPBACK = "--allow-loopback-in-peer-connection"
_UNCONFINED = ["--webrtc-ip-handling-policy=default", "--host-resolver-rules="]
_TCP = (
    *("beacon", "csp_report", "download", "event_source", "fedcm", "frame", "image", "keepalive"),
    *("object", "payment", "ping", "preconnect", "prefetch", "report_to", "speculation"),
    *("turn_tcp", "web_socket", "worker"),
)
_UDP = ("dns", "stun", "turn_udp", "web_transport")

# Some of what arrives from a browser that is not confined; the rest is refused by its routes too.
UNCONFINED_ARRIVALS = frozenset({"dns", "stun", "turn_udp", "turn_tcp", "fedcm", "payment"})

_PAGE = """<!DOCTYPE html><html><head><title>began</title>
<link rel="dns-prefetch" href="http://a.example"><link rel="preconnect" href="http://b.example">
<link rel="preconnect" href="http://127.0.0.1:$preconnect">
<link rel="prefetch" href="http://127.0.0.1:$prefetch/">
<script type="speculationrules">{"prefetch": [{"source": "list", "eagerness": "immediate",
  "urls": ["http://127.0.0.1:$speculation/", "http://c.example/"]}]}</script>
</head><body><div id="root"></div>
<a id="ping" href="#x" ping="http://127.0.0.1:$ping/">x</a>
<img src="http://127.0.0.1:$image/"><iframe src="http://127.0.0.1:$frame/"></iframe>
<object data="http://127.0.0.1:$object/"></object>
<script>
const events = (target, ...names) =>
  new Promise((done) => names.forEach((name) => target.addEventListener(name, done)));
const worker = `new WebSocket("ws://127.0.0.1:$worker/");
  fetch("http://127.0.0.1:$worker/").catch(() => 0).then(() => postMessage("ended"));
  new WebTransport("https://127.0.0.1:$web_transport/").ready.catch(() => 0);`;
const attempts = {
  rtc: async () => {
    const peer = new RTCPeerConnection({iceServers: [
      {urls: "stun:127.0.0.1:$stun"}, {urls: "stun:d.example:3478"},
      {urls: ["turn:127.0.0.1:$turn_udp?transport=udp", "turn:127.0.0.1:$turn_tcp?transport=tcp"],
       username: "a", credential: "b"}]});
    peer.createDataChannel("x");
    await peer.setLocalDescription(await peer.createOffer());
    while (peer.iceGatheringState !== "complete") await events(peer, "icegatheringstatechange");
  },
  socket: () => events(new WebSocket("ws://127.0.0.1:$web_socket/"), "error", "close"),
  transport: () => new WebTransport("https://127.0.0.1:$web_transport/").ready,
  beacon: async () => navigator.sendBeacon("http://127.0.0.1:$beacon/", "x"),
  keepalive: () => fetch("http://127.0.0.1:$keepalive/", {keepalive: true, mode: "no-cors"}),
  source: () => events(new EventSource("http://127.0.0.1:$event_source/"), "error"),
  payment: () => new PaymentRequest([{supportedMethods: "https://127.0.0.1:$payment/pay"}],
    {total: {label: "x", amount: {currency: "EUR", value: "1"}}}).canMakePayment(),
  fedcm: () => navigator.credentials.get({identity: {providers: [
    {configURL: "https://127.0.0.1:$fedcm/config.json", clientId: "1"}]}}),
  worker: () => events(new Worker(URL.createObjectURL(new Blob([worker]))), "message", "error"),
  service: () => navigator.serviceWorker.register("/worker.js"),
};
document.getElementById("ping").click();
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
(async () => {
  // The page is not at rest while it fetches.
  let rests = false;
  const ticks = async () => {
    while (!rests && await (await fetch("/tick")).text() !== "enough") await pause(100);
  };
  const busy = ticks();
  const ended = Object.values(attempts).map((attempt) => (async () => attempt())());
  await Promise.race([Promise.allSettled(ended), busy]);
  const link = document.createElement("a");
  link.download = "x"; link.href = "http://127.0.0.1:$download/"; link.click();
  document.title = "ended"; rests = true; await busy;
})();
</script></body></html>"""


def main(switches: list[str]) -> dict[str, object]:
    _bring_up_loopback()
    arrived: set[str] = set()
    ports = {name: _listen(name, socket.SOCK_DGRAM, arrived) for name in _UDP}
    ports |= {name: _listen(name, socket.SOCK_STREAM, arrived) for name in _TCP}
    body = _PAGE
    for name, port in ports.items():
        body = body.replace(f"${name}", str(port))
    endpoint = json.dumps({"group": "x", "max_age": 60, "endpoints": [_https(ports["report_to"])]})
    headers = {
        "Content-Security-Policy-Report-Only": "img-src 'none'; report-uri "
        f"http://127.0.0.1:{ports['csp_report']}/",
        "Report-To": endpoint,
        "NEL": '{"report_to": "x", "max_age": 60, "success_fraction": 1.0}',
    }
    pages = {"/": {"body": body, "headers": headers}, "/tick": {"body": "more", "delay": 0.2}}
    options = {"args": [_LOOPBACK, *switches]}
    # The name is one that a browser trusts: some of this is refused to others.
    with Site({"pages": pages}) as site, tempfile.TemporaryDirectory() as folder:
        # What nobody answers is tried for long: it may end when it has arrived.
        enough = {"pages": {**pages, "/tick": {"body": "enough"}}}
        _on_arrival(UNCONFINED_ARRIVALS, arrived, lambda: site.set(enough))
        result = scrapy(
            *("crawl", "site", "-a", f"seed={site.url(host='localhost')}", "-a", "render=always"),
            *("-s", f"PLAYWRIGHT_LAUNCH_OPTIONS={json.dumps(options)}", "-O", "pages.json"),
            *("-s", "SITEMAPS_MODE=never", "-s", "RENDER_MAX_REQUESTS=0"),
            # Nothing waits for so long unless the machine is busy.
            *("-s", "RENDER_TIMEOUT_SECONDS=240"),
            cwd=Path(folder),
            timeout=280,
        )
        (page,) = json.loads((Path(folder) / "pages.json").read_text())["pages"]
        requests = sorted({entry["path"] for entry in site.log()})
    return {
        "arrived": sorted(arrived),
        "title": page.get("title"),
        "status": result.returncode,
        "requests": requests,
    }


def _on_arrival(names: frozenset[str], arrived: set[str], then: Callable[[], None]) -> None:
    def wait() -> None:
        while not names <= arrived:
            time.sleep(0.05)
        then()

    Thread(target=wait, daemon=True).start()


def _bring_up_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh", b"lo", _UP))


def _listen(name: str, kind: socket.SocketKind, arrived: set[str]) -> int:
    """A port that notes who came, and never answers. Names are asked for at port 53."""
    listener = socket.socket(socket.AF_INET, kind)
    listener.bind(("127.0.0.1", 53 if name == "dns" else 0))
    if kind == socket.SOCK_STREAM:
        listener.listen()

    def run() -> None:
        while True:
            if kind == socket.SOCK_STREAM:
                listener.accept()[0].close()
            else:
                listener.recv(4096)
            arrived.add(name)

    Thread(target=run, daemon=True).start()
    port: int = listener.getsockname()[1]
    return port


def _https(port: int) -> dict[str, str]:
    return {"url": f"https://127.0.0.1:{port}/"}


if __name__ == "__main__":
    print(json.dumps(main(_UNCONFINED if "--unconfined" in sys.argv else [])))
