"""The job API: crawls are started, watched, stopped and read over HTTP."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.service.serving import Service
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

GARDEN = {
    "robots": "User-agent: *\nDisallow: /private\n",
    "pages": {
        "/": {"title": "Home", "links": ["/a", "/b", "/private", "https://elsewhere.example/"]},
        "/a": {"title": "<img src=x onerror=alert(1)>", "links": ["/deep"]},
        "/b": {"status": 404},
        "/deep": {"title": "Deep", "links": []},
    },
}
ENDLESS = {
    "pages": {f"/{n}" if n else "/": {"links": [f"/{n + 1}"], "title": str(n)} for n in range(3000)}
}


def test_a_crawl_is_ordered_watched_and_read(service: Service, site: SiteFactory) -> None:
    server = site(GARDEN)
    reply = service.post("/crawl", {"url": server.url(), "depth": 1})
    assert reply.status == 202
    job = reply.json["id"]
    assert reply.json == {"id": job, "status": "queued", "href": f"/crawl/{job}"}
    assert reply.headers["location"] == f"/crawl/{job}"
    done = service.until_ended(job)
    assert (done["status"], done["problem"], done["exit_status"]) == ("finished", None, 0)
    assert done["seeds"] == [server.url()]
    assert done["arguments"] == {"depth": "1"}
    counts = ("total", "crawled", "in_progress", "queued", "failed", "skipped", "pages")
    # Crawled: also where a sitemap may be. Skipped: offsite, robots, and what is deeper.
    assert [done[name] for name in counts] == [7, 3, 0, 0, 1, 3, 4]
    assert [page["url"] for page in done["sitemap"]["pages"]] == [
        server.url(path) for path in ("/", "/a", "/b", "/private")
    ]
    assert sorted(server.paths()) == ["/", "/a", "/b"]
    status = service.get(f"/crawler/jobs/{job}/status").json
    assert status.keys() == {
        *("id", "status", *counts, "pages_per_second", "eta_seconds", "elapsed_seconds", "phase")
    }
    assert (status["status"], status["phase"], status["eta_seconds"]) == ("finished", "ended", None)


def test_what_the_page_shows_of_a_job(service: Service, site: SiteFactory) -> None:
    server = site(GARDEN)
    job = service.order(server.url(), outputs=["json", "csv", "xml"])
    service.until_ended(job)
    live = service.get(f"/crawler/jobs/{job}/live").json
    assert live["job"]["status"] == "finished"
    assert [one["name"] for one in live["job"]["outputs"]] == [
        *("pages.csv", "sitemap.json", "sitemap.xml")
    ]
    assert live["snapshot"]["responses"]["404"] == 2
    assert live["snapshot"]["reason"] == "finished"
    (host,) = live["hosts"]
    assert (host["name"], host["queued"], host["held"]) == ("127.0.0.1", 0, False)
    assert {skip["reason"] for skip in live["skips"]} == {"offsite", "robots"}
    first = service.get(f"/crawler/jobs/{job}/pages?limit=2").json
    rest = service.get(f"/crawler/jobs/{job}/pages?after={first['next']}").json
    assert rest["next"] is None
    titles = [page["title"] for page in first["pages"] + rest["pages"]]
    assert sorted(map(str, titles)) == [
        "<img src=x onerror=alert(1)>",
        "Deep",
        "Home",
        "None",
        "None",
    ]
    csv = service.get(f"/crawl/{job}/outputs/pages.csv")
    assert csv.headers["content-type"] == "text/csv; charset=utf-8"
    assert csv.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert csv.content.count(b"\r\n") == 6
    assert service.get(f"/crawl/{job}/outputs/../crawl.db").status == 404
    assert service.get(f"/crawl/{job}/outputs/..%2fcrawl.db").status == 404
    assert service.get(live["job"]["log"]).status == 200


def test_a_page_is_read_as_it_was_crawled(service: Service, site: SiteFactory) -> None:
    server = site(GARDEN)
    job = service.order(server.url(), depth=0)
    service.until_ended(job)
    asked = {"url": server.url().upper().replace("HTTP", "http")}
    page = service.post("/storage/get-page", asked).json
    assert (page["job_id"], page["url"]) == (job, server.url())
    assert (page["status_code"], page["title"], "body" in page) == (200, "Home", False)
    assert ["content-type", "text/html; charset=utf-8"] in [
        [name.lower(), value] for name, value in page["headers"]
    ]
    whole = service.post("/storage/get-page", {**asked, "body": True, "job_id": job}).json
    assert "<title>Home</title>" in whole["body"]
    assert (whole["body_encoding"], whole["body_problem"]) == ("utf-8", None)
    assert len(whole["content_hash"]) == 64
    assert whole["size"] == len(whole["body"].encode())
    missing = service.post("/storage/get-page", {"url": server.url("/never")})
    assert missing.status == 404
    assert missing.json == {"error": f"no job has a page of {server.url('/never')}"}


def test_a_page_without_a_stored_body_says_why(service: Service, site: SiteFactory) -> None:
    server = site(GARDEN)
    job = service.order(server.url(), depth=0, store_bodies=False)
    service.until_ended(job)
    page = service.post("/storage/get-page", {"url": server.url(), "body": True}).json
    assert (page["body"], page["headers"], page["status_code"]) == (None, None, 200)
    assert page["body_problem"].startswith("it is not stored")


def test_several_seeds_are_one_job(service: Service, site: SiteFactory) -> None:
    server = site({"pages": {f"/{n}": {} for n in range(3000)}})
    # With a comma, and more than a command line takes.
    urls = [server.url("/0,"), *(server.url(f"/{n}") for n in range(1, 1500))]
    body = {"urls": urls, "depth": 0, "store_bodies": False}
    job = service.post("/crawler/seeds", body).json["id"]
    done = service.until_ended(job)
    assert (done["status"], done["seed_count"], len(done["seeds"])) == ("finished", 1500, 20)
    assert {page["url"] for page in done["sitemap"]["pages"]} == set(urls)


def test_a_job_is_stopped_goes_on_and_is_removed(service: Service, site: SiteFactory) -> None:
    server = site(ENDLESS)
    job = service.order(server.url(), max_pages=80, delay=0.02, depth="none")
    wait_for(lambda: len(server.paths()) >= 5)
    early = service.post(f"/crawler/jobs/{job}/resume")
    assert (early.status, "is running" in early.json["error"]) == (409, True)
    wait_for(lambda: service.job(job)["pages"] > 0)
    running = service.job(job)
    assert running["phase"] == "running"
    # One page names the next.
    assert running["in_progress"] + running["queued"] == 1
    stats = service.get("/crawler/stats").json
    assert stats["jobs"]["running"] >= 1
    assert stats["urls"]["done"] >= 1
    assert service.ask("DELETE", f"/crawl/{job}").json == {"id": job, "status": "stopping"}
    stopped = service.until_ended(job)
    assert (stopped["status"], stopped["exit_status"]) == ("stopped", 0)
    # In peace: what was fetched is in the output.
    assert 5 <= len(stopped["sitemap"]["pages"]) < 80
    resumed = service.post(f"/crawler/jobs/{job}/resume")
    assert (resumed.status, resumed.json["id"]) == (202, job)
    done = service.until_ended(job)
    assert (done["status"], done["runs"]) == ("finished", 2)
    assert len(done["sitemap"]["pages"]) == 80
    assert len(server.paths()) == len(set(server.paths())) == 80
    assert service.post(f"/crawler/jobs/{job}/resume").status == 409
    folder = service.crawl_directory(job)
    assert folder.exists()
    removed = service.ask("DELETE", f"/crawl/{job}")
    assert (removed.status, removed.json["status"]) == (200, "deleted")
    assert service.get(f"/crawl/{job}").status == 404
    wait_for(lambda: not folder.exists())


def test_a_job_is_killed_at_once_if_that_is_wanted(service: Service, site: SiteFactory) -> None:
    server = site(ENDLESS)
    job = service.order(server.url(), delay=0.05, depth="none")
    wait_for(lambda: len(server.paths()) >= 2)
    reply = service.post("/crawler/stop", {"job_id": job, "kill": True})
    assert (reply.status, reply.json) == (202, {"stopping": [job]})
    killed = service.until_ended(job)
    assert (killed["status"], killed["exit_status"], killed["sitemap"]) == ("killed", -9, None)
    # Once more does no harm.
    assert service.post("/crawler/stop", {"job_id": job}).json == {"stopping": []}


def test_a_seed_that_cannot_be_fetched_fails_the_job_in_one_line(service: Service) -> None:
    service.form(
        "/schedule.json",
        project="crawlproject",
        spider="site",
        seed="http://127.0.0.1:9/",
        jobid="refused",
        setting="RETRY_TIMES=0",
    )
    done = service.until_ended("refused")
    assert (done["status"], done["exit_status"]) == ("failed", 1)
    assert done["problem"].startswith(
        "scrapy crawl: error: the seed http://127.0.0.1:9/ could not be fetched: "
    )


def test_jobs_are_listed_the_newest_first(service: Service, site: SiteFactory) -> None:
    server = site({"pages": {"/": {}}})
    ids = [service.order(server.url(), depth=0) for _ in range(3)]
    for job in ids:
        service.until_ended(job)
    listed = service.get("/crawler/jobs?limit=2").json
    assert [job["id"] for job in listed["jobs"]] == ids[:0:-1]
    assert listed["total"] >= 3
    finished = service.get("/crawler/jobs?status=finished&limit=500").json["jobs"]
    assert set(ids) <= {job["id"] for job in finished}
    assert {job["status"] for job in finished} == {"finished"}


def test_a_full_queue_refuses_more_and_all_can_be_stopped(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(ENDLESS)
    with Service(tmp_path, scrapyd={"max_proc": "1"}, max_pending="2") as service:
        running = service.order(server.url(), delay=0.05, depth="none")
        service.until(running, "running")
        waiting = [service.order(server.url("/x")) for _ in range(2)]
        full = service.post("/crawl", {"url": server.url()})
        assert full.status == 429
        assert full.headers["retry-after"] == "30"
        assert full.json["error"].startswith("2 jobs wait already (max_pending in scrapyd.conf)")
        scheduled = service.form(
            "/schedule.json", project="crawlproject", spider="site", seed=server.url()
        )
        assert (scheduled.status, scheduled.json["status"]) == (429, "error")
        stopped = service.post("/crawler/stop").json["stopping"]
        assert set(stopped) == {running, *waiting}
        assert {service.until_ended(job)["status"] for job in stopped} == {"stopped"}
        assert "/x" not in server.paths()


BAD_ORDERS: list[tuple[Any, str]] = [
    ({}, "url: missing"),
    ({"url": 7}, "url: 7 is not a URL such as"),
    (
        {"url": "example.com"},
        "url: 'example.com' has no scheme: did you mean https://example.com ?",
    ),
    ({"url": "ftp://example.com"}, "url: "),
    ({"url": "https://a.com https://b.com"}, "url: "),
    ({"url": "https://me:secret@a.com/"}, "url: a name and password in the URL"),
    ({"url": "https://a.com", "urls": ["https://b.com"]}, "urls: give url or urls, not both"),
    ({"url": "https://a.com", "depth": -1}, "depth: '-1' is not a number of links"),
    ({"url": "https://a.com", "depth": "deep"}, 'depth: "deep" is not a whole number of links'),
    ({"url": "https://a.com", "depth": True}, "depth: true is not a whole number of links"),
    ({"url": "https://a.com", "max_pages": 0}, "max_pages: '0' is not a whole number of 1"),
    ({"url": "https://a.com", "scope": "universe"}, "scope: 'universe' is not one of"),
    ({"url": "https://a.com", "include": "("}, "include: '(' is not a regular expression"),
    ({"url": "https://a.com", "include": "a{99999999999999999999}"}, "include: 'a{9999"),
    ({"url": "https://a.com", "depth": json.loads("[" * 900 + "]" * 900)}, "depth: "),
    ({"url": "https://a.com", "rate": 0}, "rate: '0' is not a number of requests a second"),
    ({"url": "https://a.com", "dept": 1}, "dept: no such option; there are depth"),
    ({"url": "https://a.com", "seeds_file": "/etc/passwd"}, "seeds_file: no such option"),
    ({"url": "https://a.com", "outputs": ["exe"]}, 'outputs: "exe" is not one of json'),
    ({"url": "https://a.com", "outputs": []}, "outputs: [] is not a list"),
    ({"url": "https://a.com", "store_bodies": 1}, "store_bodies: 1 is not true or false"),
    ({"url": "https://a.com", "user_agent": "\n"}, "user_agent: "),
]


@pytest.mark.parametrize(("order", "problem"), BAD_ORDERS, ids=lambda value: str(value)[:40])
def test_a_bad_order_is_refused_in_one_line_and_starts_nothing(
    service: Service, order: Any, problem: str
) -> None:
    before = service.get("/crawler/jobs").json["total"]
    reply = service.post("/crawl", order)
    assert reply.status == 400, reply
    assert reply.json["error"].startswith(problem)
    assert "\n" not in reply.json["error"]
    assert service.get("/crawler/jobs").json["total"] == before


@pytest.mark.parametrize(
    ("content", "kind", "status", "problem"),
    [
        (b"{", "application/json", 400, "the body is not JSON: "),
        (b"[]", "application/json", 400, "the body is not an object"),
        (b'{"url": NaN}', "application/json", 400, "the body is not JSON: "),
        (b"\xff\xfe", "application/json", 400, "the body is not JSON: "),
        (b"", "application/json", 400, "the body is not JSON: "),
        (b"url=https://a.com", "application/x-www-form-urlencoded", 415, "'application/x-www-"),
        (b"{}", "", 415, "'no type' can't be read: send JSON"),
        (
            b'{"url": "' + b"x" * 2**20 + b'"}',
            "application/json",
            413,
            "the body has more than 1,048,576 bytes: send fewer",
        ),
    ],
)
def test_a_body_that_cannot_be_read(
    service: Service, content: bytes, kind: str, status: int, problem: str
) -> None:
    headers = {"Content-Type": kind} if kind else {}
    for path in ("/crawl", "/crawler/seeds", "/storage/get-page"):
        reply = service.ask("POST", path, content=content, headers=headers)
        assert reply.status == status
        assert reply.json["error"].startswith(problem)


@pytest.mark.parametrize(
    ("method", "path", "status", "problem"),
    [
        ("GET", "/crawl/unknown", 404, "there is no job 'unknown'"),
        ("DELETE", "/crawl/unknown", 404, "there is no job 'unknown'"),
        ("GET", "/crawler/jobs/unknown/status", 404, "there is no job 'unknown'"),
        ("GET", "/crawler/jobs/unknown/live", 404, "there is no job 'unknown'"),
        ("GET", "/crawler/jobs/unknown/pages", 404, "there is no job 'unknown'"),
        ("POST", "/crawler/jobs/unknown/resume", 404, "there is no job 'unknown'"),
        ("GET", "/crawl/..%2f..%2fetc/outputs/passwd", 404, "there is no job '../../etc'"),
        ("GET", "/crawler", 404, "there is nothing at /crawler"),
        ("GET", "/crawler/nonsense", 404, "there is nothing at /crawler/nonsense"),
        ("GET", "/crawl", 405, "GET is not for /crawl: OPTIONS, POST are"),
        ("PUT", "/crawler/stop", 405, "PUT is not for /crawler/stop: OPTIONS, POST are"),
        ("GET", "/crawl/x/outputs/y?z=1", 400, "'z': no such parameter"),
        ("GET", f"/crawler/jobs/x/pages?after={'9' * 50}", 400, "after: '99999"),
        ("GET", "/crawler/jobs?limit=0", 400, "limit: '0' is not a whole number from 1 to 500"),
        ("GET", "/crawler/jobs?limit=1&limit=2", 400, "limit: is given 2 times"),
        ("GET", "/crawler/jobs?status=odd", 400, "status: 'odd' is not one of queued, running"),
        ("GET", "/crawler/stats?x=1", 400, "'x': no such parameter"),
    ],
)
def test_what_is_not_there_says_so(
    service: Service, method: str, path: str, status: int, problem: str
) -> None:
    reply = service.ask(method, path)
    assert reply.status == status
    assert reply.headers["content-type"] == "application/json"
    assert reply.json["error"].startswith(problem)


def test_options_and_head_are_answered(service: Service) -> None:
    options = service.ask("OPTIONS", "/crawler/jobs")
    assert (options.status, options.headers["allow"]) == (204, "GET, HEAD, OPTIONS")
    head = service.ask("HEAD", "/crawler/jobs")
    assert (head.status, head.content) == (200, b"")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"job_id": 7}, "job_id: is not the id of a job"),
        ({"job_id": None}, "job_id: is not the id of a job"),
        ({"kill": "yes"}, "kill: is not true or false"),
        ({"job": "x"}, "job: no such member; there are job_id, kill"),
    ],
)
def test_a_bad_word_to_stop_stops_nothing(service: Service, body: Any, problem: str) -> None:
    reply = service.post("/crawler/stop", body)
    assert (reply.status, reply.json) == (400, {"error": problem})


def test_answers_are_json_for_every_job_in_every_state(service: Service) -> None:
    for job in service.get("/crawler/jobs?limit=500").json["jobs"]:
        assert json.dumps(job)
        assert service.get(f"/crawl/{job['id']}").status == 200
