"""The examples of docs/extending.md that send pages on, write them or keep them out."""

from __future__ import annotations

import gzip
import json
import sqlite3
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawling import scrapy
from tests.killing import Command, kill
from tests.test_docs import crawl, examples
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


class Endpoint:
    """Takes batches of pages; refuses the first so many."""

    def __init__(self, refusals: int = 0) -> None:
        self.batches: list[list[dict[str, Any]]] = []
        self.refused = 0
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                is_refused = endpoint.refused < refusals
                endpoint.refused += is_refused
                if not is_refused:
                    endpoint.batches.append(json.loads(body))
                self.send_response(503 if is_refused else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    @property
    def settings(self) -> tuple[str, ...]:
        return (
            *("-s", f"ACME_ENDPOINT=http://127.0.0.1:{self._server.server_port}/"),
            *("-s", 'ITEM_PIPELINES={"acme.post.PostPages": 800}'),
            *("-s", "ACME_BACKOFF_SECONDS=0.01", "-s", "ACME_BATCH_SECONDS=0.2"),
        )

    def urls(self) -> list[str]:
        return [page["url"] for batch in self.batches for page in batch]

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def endpoint() -> Iterator[Callable[..., Endpoint]]:
    started: list[Endpoint] = []

    def start(refusals: int = 0) -> Endpoint:
        started.append(Endpoint(refusals))
        return started[-1]

    yield start
    for one in started:
        one.close()


WIDE = {"pages": {"/": {"links": [f"/{number}" for number in range(30)]}}, "default": {}}


def test_the_poster_of_the_docs_posts_all_pages_in_batches(
    site: SiteFactory, tmp_path: Path, endpoint: Callable[..., Endpoint]
) -> None:
    examples(tmp_path)
    server, target = site(WIDE), endpoint(refusals=2)
    pages = crawl(server, tmp_path, *target.settings, "-s", "ACME_BATCH_PAGES=8")
    assert sorted(target.urls()) == [page["url"] for page in pages]
    assert len(pages) == 31
    assert target.refused == 2
    # The pages are fetched while others wait for their batch, and the last one is not lost.
    assert 4 <= len(target.batches) < 31
    assert max(map(len, target.batches)) == 8
    assert not any("post_problem" in page for page in pages)


def test_a_page_that_could_not_be_posted_says_so(
    site: SiteFactory, tmp_path: Path, endpoint: Callable[..., Endpoint]
) -> None:
    examples(tmp_path)
    server, target = site({"pages": {"/": {}}}), endpoint(refusals=2)
    (page,) = crawl(server, tmp_path, *target.settings, "-s", "ACME_ATTEMPTS=2")
    assert "503" in str(page["post_problem"])
    assert target.batches == []


def test_what_was_not_posted_when_a_crawl_is_killed_is_posted_by_the_next_run(
    site: SiteFactory, tmp_path: Path, endpoint: Callable[..., Endpoint]
) -> None:
    examples(tmp_path)
    server, target = site(WIDE), endpoint()
    options = ("-a", f"seed={server.url()}", *target.settings, "-s", "ACME_BATCH_PAGES=5")
    # All pages of a batch, and the seed alone.
    crawling = Command(tmp_path, *options, "-s", "ACME_BATCH_SECONDS=0.2")
    process = crawling.start()
    wait_for(lambda: len(target.batches) >= 3)
    kill(process)
    assert crawling.run().returncode == 0
    assert set(target.urls()) == {server.url("/"), *(server.url(f"/{n}") for n in range(30))}


def test_the_database_of_the_docs_has_a_row_for_every_page(
    site: SiteFactory, tmp_path: Path
) -> None:
    examples(tmp_path)
    server = site({"pages": {"/": {"links": ["/a"], "title": "Home"}, "/a": {"status": 404}}})
    pipelines = 'ITEM_PIPELINES={"acme.database.ToSqlite": 810}'
    # Twice: a page replaces itself.
    for _ in range(2):
        crawl(server, tmp_path, "-s", pipelines)
    with closing(sqlite3.connect(tmp_path / "pages.db")) as database:
        rows = database.execute("SELECT url, status_code, title FROM pages ORDER BY url").fetchall()
    assert rows == [(server.url("/"), 200, "Home"), (server.url("/a"), 404, None)]


def test_a_pipeline_adds_fields_under_names_that_pages_keep_for_pipelines(
    site: SiteFactory, tmp_path: Path
) -> None:
    (tmp_path / "plugin.py").write_text(
        "from itemadapter import ItemAdapter\n\n\nclass Names:\n"
        "    def process_item(self, item):\n"
        "        fields = {'content': 'c', 'stored': {'id': 7}, 'text': 't'}\n"
        "        ItemAdapter(item).update(fields)\n        return item\n"
    )
    same = {"text": " ".join(f"word{number}" for number in range(200))}
    server = site({"pages": {"/": {"links": ["/a", "/b"]}, "/a": same, "/b": same}})
    options = ("-s", "JOBDIR=crawl", "-s", 'ITEM_PIPELINES={"plugin.Names": 50}')
    crawl(server, tmp_path, *options, "-O", "out.json", "-O", "out.warc.gz")
    pages = json.loads((tmp_path / "out.json").read_text())["pages"]
    assert len(pages) == 3
    for page in pages:
        assert (page["content"], page["stored"], page["text"]) == ("c", {"id": 7}, "t")
    # The text and the body that others need are still those of the page.
    (copy,) = [page for page in pages if page.get("near_duplicate_of")]
    assert copy["word_count"] > 150
    bodies = gzip.decompress((tmp_path / "out.warc.gz").read_bytes())
    assert bodies.count(b"word198 word199") == 2


def test_the_exporter_of_the_docs_writes_its_document(site: SiteFactory, tmp_path: Path) -> None:
    examples(tmp_path)
    server = site({"pages": {"/": {"links": ["/fine", "/gone"]}, "/fine": {}}})
    exporters = 'FEED_EXPORTERS={"md": "acme.exporters.BrokenMarkdown"}'
    crawl(server, tmp_path, "-O", "broken.md", "-s", exporters)
    assert (tmp_path / "broken.md").read_text() == (
        f"- [ ] <{server.url('/gone')}>: unexpected status 404, linked from <{server.url('/')}>\n"
    )


def test_the_scope_rule_of_the_docs_keeps_urls_out(site: SiteFactory, tmp_path: Path) -> None:
    examples(tmp_path)
    links = ["/news/2019/x", "/news/2021/y", "/about"]
    server = site({"pages": {"/": {"links": links}}, "default": {}})
    job = ("-s", "JOBDIR=job")
    crawl(server, tmp_path, "-s", "SCOPE_RULES=acme.rules.NoOldNews", *job)
    assert sorted(server.paths()) == ["/", "/about", "/news/2021/y", "/sitemap.xml"]
    ledger = scrapy("skipped", "job", "--json", cwd=tmp_path).stdout
    skipped = json.loads(ledger)
    assert (skipped["reason"], skipped["rule"]) == ("old news", "before 2020")


SHOP = {
    "/": {"body": "<nav><a href=/list>list</a></nav><a href=/about>about</a>"},
    "/list": {"body": "<a href=/item/1>one</a><a href=/item/2>two</a>"},
    **{f"/item/{number}": {"body": f"<h1>Item {number}</h1>"} for number in (1, 2)},
}


def test_the_rules_of_the_docs_follow_and_parse(site: SiteFactory, tmp_path: Path) -> None:
    examples(tmp_path)
    server = site({"pages": SHOP})
    options = ("-s", "SPIDER_MODULES=acme.shop", "-O", "shop.jsonl")
    done = scrapy("crawl", "shop", "-a", f"seed={server.url()}", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(server.paths()) == ["/", "/item/1", "/item/2", "/list"]
    lines = [json.loads(line) for line in (tmp_path / "shop.jsonl").read_text().splitlines()]
    names = {line["name"] for line in lines if "name" in line}
    assert names == {"Item 1", "Item 2"}
    assert len(lines) == 6


def test_the_product_of_the_docs_has_its_price(site: SiteFactory, tmp_path: Path) -> None:
    examples(tmp_path)
    server = site({"pages": {"/": {"body": "<p class=price>3.5</p>"}}})
    options = ("-s", "SPIDER_MODULES=acme.product", "-O", "out.json")
    pipelines = 'ITEM_PIPELINES={"acme.product.Prices": 50}'
    seed = f"seed={server.url()}"
    done = scrapy("crawl", "products", "-a", seed, *options, "-s", pipelines, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (page,) = json.loads((tmp_path / "out.json").read_text())["pages"]
    assert page["price"] == 3.5


@pytest.mark.parametrize(("password", "pages"), [("sesame!", 2), ("wrong!", 0)])
def test_the_login_of_the_docs_comes_first(
    site: SiteFactory, tmp_path: Path, password: str, pages: int
) -> None:
    examples(tmp_path)
    form = {"user": "me", "password": "sesame!"}
    server = site(
        {
            "pages": {"/": {"links": ["/a"]}, "/a": {}, "/home": {"title": "Welcome"}},
            "login": {"path": "/login", "form": form, "then": "/home"},
        }
    )
    options = ("-s", "SPIDER_MODULES=acme.members", "-O", "out.json", "-s", "RETRY_ENABLED=False")
    done = scrapy(
        *("crawl", "members", "-a", f"seed={server.url()}", *options),
        cwd=tmp_path,
        ACME_PASSWORD=password,
    )
    expected = ["/login", "/home", "/", "/a"] if pages else ["/login"]
    assert server.paths() == expected, done.stderr
    if pages:
        assert len(json.loads((tmp_path / "out.json").read_text())["pages"]) == pages
    assert password not in done.stderr
