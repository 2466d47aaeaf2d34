"""The demo site over HTTP: every link answers as intended."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import zipfile
import zlib
from collections import deque
from html.parser import HTMLParser
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urldefrag, urljoin, urlsplit
from xml.etree import ElementTree

import pytest

from crawlproject.demo import server, site

if TYPE_CHECKING:
    from collections.abc import Iterator

REDIRECTS = {*site.REDIRECTS, site.MISSING_SLASH}
ERRORS = dict.fromkeys(site.BROKEN, 404) | {site.GONE: 410, site.FAILING: 500}


class Parser(HTMLParser):
    """Collects what a crawler looks at, and complains about tags that do not match."""

    VOID = frozenset({"meta", "link", "img", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.lang = self.title = ""
        self.open: list[str] = []
        self.metas: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "html":
            self.lang = attributes.get("lang") or ""
        if tag == "a":
            self.links.append((attributes["href"] or "", attributes.get("rel") or ""))
        if tag in {"meta", "link"}:
            self.metas.append(attributes)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Drawings close their own tags."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["title"]:
            self.title += data


class Fetched(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    def parsed(self) -> Parser:
        parser = Parser()
        parser.feed(self.body.decode())
        parser.close()
        assert parser.open == []
        return parser


class Client:
    """One connection, kept alive."""

    def __init__(self, demo: server.DemoServer) -> None:
        self.base = demo.url
        self.connection = HTTPConnection("127.0.0.1", demo.port, timeout=30)

    def ask(self, path: str, method: str = "GET", **headers: str) -> HTTPResponse:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(method, quote(path, safe="/?=&%#:;+-"), headers=sent)
        return self.connection.getresponse()

    def get(self, path: str, **headers: str) -> Fetched:
        response = self.ask(path, **headers)
        return Fetched(response.status, dict(response.getheaders()), response.read())


class Crawl(NamedTuple):
    pages: dict[str, Fetched]
    offsite: set[str]
    links: dict[str, list[tuple[str, str]]]

    def html(self) -> dict[str, Parser]:
        return {
            path: page.parsed()
            for path, page in self.pages.items()
            if page.status == 200 and page.headers["Content-Type"] == site.HTML
        }


@pytest.fixture(scope="module")
def demo() -> Iterator[server.DemoServer]:
    with server.serve() as running:
        yield running


@pytest.fixture
def client(demo: server.DemoServer) -> Iterator[Client]:
    made = Client(demo)
    yield made
    made.connection.close()


@pytest.fixture(scope="module")
def crawl(demo: server.DemoServer) -> Crawl:
    """Everything that links and redirects lead to, the disallowed area included."""
    client = Client(demo)
    found = Crawl({}, set(), {})
    queue = deque(["/"])
    while queue:
        path = queue.popleft()
        if path in found.pages:
            continue
        page = found.pages[path] = client.get(path)
        hrefs = [(page.headers["Location"], "")] if page.status == 301 else []
        if page.status == 200 and page.headers["Content-Type"] == site.HTML:
            hrefs = page.parsed().links
        found.links[path] = hrefs
        for href, _ in hrefs:
            url = urldefrag(urljoin(client.base + path.removeprefix("/"), href)).url
            if url.startswith(client.base):
                queue.append("/" + url.removeprefix(client.base).partition("utm_")[0].rstrip("?&"))
            elif url.startswith("http"):
                found.offsite.add(url)
    client.connection.close()
    return found


def test_every_linked_url_answers_as_intended(crawl: Crawl) -> None:
    for path, page in crawl.pages.items():
        expected = 301 if path in REDIRECTS else ERRORS.get(path, 200)
        assert page.status == expected, path
    assert crawl.pages.keys() >= REDIRECTS | ERRORS.keys() | set(site.FILES)
    assert crawl.offsite == set(site.OFFSITE)


def test_links_reach_every_page_but_the_orphan(crawl: Crawl) -> None:
    assert set(site.contents()) - set(crawl.pages) == {site.ORPHAN}


def test_has_about_sixty_pages(crawl: Crawl) -> None:
    assert 55 <= len(crawl.html()) <= 70


def test_pages_are_well_formed_and_their_titles_tell_them_apart(crawl: Crawl) -> None:
    titles: dict[str, list[str]] = {}
    for path, parser in crawl.html().items():
        assert parser.lang == "en", path
        assert parser.title, path
        titles.setdefault(parser.title, []).append(path)
    assert [tuple(sorted(same)) for same in titles.values() if len(same) > 1] == [site.DUPLICATES]


def test_titles_use_character_references(crawl: Crawl) -> None:
    page = crawl.pages["/news/tea-and-tulips"]
    assert b"<title>Tea &amp; tulips &#8211; the caf&#233; reopens | " in page.body
    assert page.parsed().title == "Tea & tulips – the café reopens | Thistlemere"


def test_only_the_duplicates_have_the_same_body(crawl: Crawl) -> None:
    bodies: dict[str, set[str]] = {}
    for path, page in crawl.pages.items():
        if page.status == 200:
            bodies.setdefault(hashlib.sha256(page.body).hexdigest(), set()).add(path)
    assert [same for same in bodies.values() if len(same) > 1] == [set(site.DUPLICATES)]


def test_print_version_differs_by_a_few_words(crawl: Crawl) -> None:
    original, printed = (set(crawl.pages[path].body.split()) for path in site.NEAR_DUPLICATES)
    assert 0 < len(original ^ printed) < 15


def test_redirects_chain_and_loop(crawl: Crawl) -> None:
    chain = crawl.pages["/guide"], crawl.pages["/visit/guide"]
    assert [page.headers["Location"] for page in chain] == ["/visit/guide", "/visit/plan-your-day"]
    assert {crawl.pages[path].headers["Location"] for path in site.LOOP} == set(site.LOOP)
    assert crawl.pages[site.MISSING_SLASH].headers["Location"] == "/plants/"


def test_missing_slash_keeps_the_query(client: Client) -> None:
    assert client.get("/plants?season=winter").headers["Location"] == "/plants/?season=winter"


def test_hints_for_crawlers_are_where_the_constants_say(crawl: Crawl) -> None:
    html = crawl.html()
    noindex = {
        p for p, page in html.items() if {"name": "robots", "content": "noindex"} in page.metas
    }
    canonical = {
        path: meta["href"]
        for path, page in html.items()
        for meta in page.metas
        if meta.get("rel") == "canonical"
    }
    nofollow = {href for page in html.values() for href, rel in page.links if rel == "nofollow"}
    assert noindex == {site.NOINDEX}
    assert canonical == site.CANONICAL
    assert nofollow == {site.NOFOLLOW}


def test_tracking_parameters_change_nothing(crawl: Crawl, client: Client) -> None:
    tracked = [href for href, _ in crawl.links["/"] if "utm_source" in href]
    assert tracked
    for href in tracked:
        assert client.get(href).body == crawl.pages[urlsplit(href).path].body


def test_breadcrumbs_and_navigation_make_cycles(crawl: Crawl) -> None:
    assert ("/plants/", "") in crawl.links["/plants/spindle"]
    assert all(("/", "") in crawl.links[path] for path in crawl.html())


def test_non_ascii_path_is_served(crawl: Crawl) -> None:
    assert crawl.pages["/visit/café"].status == 200


def test_sitemap_is_valid_and_lists_the_orphan(demo: server.DemoServer, client: Client) -> None:
    root = ElementTree.fromstring(client.get("/sitemap.xml").body)  # noqa: S314  (our own)
    namespace = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    assert root.tag == f"{namespace}urlset"
    locations = [element.text or "" for element in root.iter(f"{namespace}loc")]
    assert demo.url.rstrip("/") + site.ORPHAN in locations
    assert len(locations) == len(set(locations)) > 50
    for location in locations:
        assert location.isascii()
        path = "/" + location.removeprefix(demo.url)
        assert site.answer(path).status == 200
        assert not path.startswith(site.DISALLOWED)


def test_robots_disallows_the_private_area_and_names_the_sitemap(client: Client) -> None:
    lines = client.get("/robots.txt", Host="garden.test:81").body.decode().splitlines()
    assert lines[:2] == ["User-agent: *", "Disallow: /private/"]
    assert lines[-1] == "Sitemap: http://garden.test:81/sitemap.xml"


def test_hostile_host_header_is_not_repeated(client: Client) -> None:
    assert b"<script>" not in client.get("/sitemap.xml", Host="<script>").body


def test_files_are_what_they_say(crawl: Crawl) -> None:
    picture, document = (crawl.pages[path] for path in site.FILES)
    assert picture.headers["Content-Type"] == "image/png"
    assert picture.body[:8] == b"\x89PNG\r\n\x1a\n"
    data = picture.body[picture.body.index(b"IDAT") + 4 : -16]
    assert len(zlib.decompress(data)) == 120 * (320 * 3 + 1)
    assert document.headers["Content-Type"] == "application/pdf"
    table = int(document.body.split(b"startxref\n")[1].split()[0])
    assert document.body[table:].startswith(b"xref")
    first_object = int(document.body[table:].splitlines()[3].split()[0])
    assert document.body[first_object:].startswith(b"1 0 obj")


def test_the_slow_page_is_slow_and_no_other() -> None:
    delays = {path: page.delay_seconds for path, page in site.contents().items()}
    assert {path: delay for path, delay in delays.items() if delay} == {site.SLOW: 1.5}


def test_unchanged_page_is_not_sent_again(client: Client) -> None:
    first = client.get("/news/seed-swap")
    again = client.get("/news/seed-swap", If_Modified_Since=first.headers["Last-Modified"])
    older = client.get("/news/seed-swap", If_Modified_Since="Sat, 01 Jan 2000 00:00:00 GMT")
    nonsense = client.get("/news/seed-swap", If_Modified_Since="yesterday")
    assert first.headers["Last-Modified"] == "Sat, 01 Feb 2025 09:00:00 GMT"
    assert (again.status, again.body) == (304, b"")
    assert older.body == nonsense.body == first.body


def test_head_has_the_length_and_no_body(client: Client) -> None:
    response = client.ask("/plants/", "HEAD")
    assert response.read() == b""
    assert response.headers["Content-Length"] == str(len(site.answer("/plants/").body))
    assert client.get("/plants/").status == 200  # the connection goes on


@pytest.mark.parametrize(
    "target",
    [
        "",
        "*",
        "/%",
        "/%00",
        "/%FF%FE",
        "//[",
        "/../../etc/passwd",
        "/plants/?season=",
        "/plants/?season=monsoon",
        "/news/?page=0",
        "/news/?page=99999999999",
        "/news/?" + "&".join("a" * 200),
        "/plants?\x85\xe9 <>\"'",
        "http://elsewhere.test/",
    ],
)
def test_any_target_has_an_answer(target: str) -> None:
    answer = site.answer(target)
    assert answer.status in {200, 301, 404}
    assert all(value.isascii() and value.isprintable() for value in answer.headers.values())


@pytest.mark.parametrize(
    ("spelling", "same"),
    [
        ("/news/?page=1", "/news/"),
        ("/shop/?sort=name", "/shop/"),
        ("/plants/?utm_source=x", "/plants/"),
        ("/plants/?utm_source=x&season=spring", "/plants/?season=spring"),
        ("/visit/?page=2", "/visit/"),
        ("/visit/caf%C3%A9", "/visit/café"),
        ("/about/#top", "/about/"),
    ],
)
def test_spellings_of_one_page(spelling: str, same: str) -> None:
    assert site.answer(spelling) is site.contents()[same]


def test_close_does_not_wait_for_clients() -> None:
    demo = server.serve()
    idle, waiting = Client(demo), Client(demo)
    idle.get("/")
    waiting.connection.request("GET", site.SLOW)
    demo.close()
    demo.close()
    with pytest.raises(OSError):  # noqa: PT011  (refused or reset, as the kernel likes)
        Client(demo).get("/")
    idle.connection.close()
    waiting.connection.close()


@pytest.fixture
def zipped(tmp_path: Path) -> Path:
    """The package as an egg holds it."""
    archive = tmp_path / "project.egg"
    folder = Path(site.__file__).parent
    with zipfile.ZipFile(archive, "w") as egg:
        egg.writestr("crawlproject/__init__.py", "")
        for module in folder.glob("*.py"):
            egg.write(module, f"crawlproject/demo/{module.name}")
    return archive


@pytest.mark.parametrize("ending", ["eof", signal.SIGTERM, signal.SIGINT])
def test_command_serves_from_an_egg_until_told_to_end(
    zipped: Path, tmp_path: Path, ending: str | signal.Signals
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "crawlproject.demo", "--until-eof"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(zipped)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    url = urlsplit(process.stdout.readline().strip())
    assert url.port
    connection = HTTPConnection("127.0.0.1", url.port, timeout=30)
    connection.request("GET", "/")
    assert connection.getresponse().read() == site.answer("/").body
    if isinstance(ending, signal.Signals):
        process.send_signal(ending)
        process.wait(30)  # stdin is still open
    output, errors = process.communicate(timeout=30)
    connection.close()
    assert (process.returncode, output, errors) == (0, "", "")


def test_command_says_why_it_cannot_serve(demo: server.DemoServer) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "crawlproject.demo", f"--port={demo.port}"],
        cwd=Path(site.__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert result.stderr.startswith(f"cannot serve on port {demo.port}: ")
