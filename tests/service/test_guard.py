"""Who may ask the service for what, and what a job may reach."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.dns_server import Name, NameServer
from tests.service.serving import PASSWORD, USER, Service, free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """As it is by default: no password, and no internal addresses."""
    folder = tmp_path_factory.mktemp("closed")
    with Service(folder, allow_internal="no", allowed_hosts="crawl.example, other.example") as one:
        yield one


@pytest.fixture(scope="module")
def protected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("protected"), is_protected=True) as one:
        yield one


ORDER = b'{"url": "https://example.invalid"}'


@pytest.mark.parametrize(
    ("headers", "is_allowed"),
    [
        ({}, True),
        ({"Origin": "http://{host}"}, True),
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "none"}, True),
        ({"Origin": "https://evil.example"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": "http://["}, False),
        ({"Origin": "http://127.0.0.1:1"}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Host": "evil.example"}, False),
        ({"Host": "crawl.example"}, True),
        ({"Host": "localhost"}, True),
        ({"Host": "[::1]:80"}, True),
        ({"Host": "["}, False),
    ],
)
def test_no_page_of_another_site_gets_a_crawl_started(
    closed: Service, headers: dict[str, str], is_allowed: bool
) -> None:
    host = f"127.0.0.1:{closed.port}"
    sent = {name: value.format(host=host) for name, value in headers.items()}
    json_type = {"Content-Type": "application/json"}
    reply = closed.ask("POST", "/crawl", content=b"{}", headers=json_type | sent)
    # What is allowed is looked at, and found to be no order.
    assert reply.status == (400 if is_allowed else 403)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    reply = closed.ask("POST", "/schedule.json", content=b"jobid=/", headers=form | sent)
    assert reply.status == (400 if is_allowed else 403)


def test_no_page_of_another_site_reads_anything(closed: Service) -> None:
    for path in ("/crawler/jobs", "/listjobs.json", "/daemonstatus.json", "/metrics", "/"):
        reply = closed.get(path, Origin="https://evil.example")
        assert reply.status == 200
        assert "access-control-allow-origin" not in reply.headers
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
        assert closed.get(path, Host="evil.example").status == 403


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost:8080/",
        "http://app.localhost/",
        "http://10.0.0.1/",
        "http://192.168.1.1/",
        "http://172.16.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://metadata.google.internal/",
        "http://printer.local/",
        "http://[::1]/",
        "http://[fd00::1]/",
        "http://[fe80::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://0.0.0.0/",
        # Other spellings of 127.0.0.1.
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://１２７.0.0.1/",
    ],
)
def test_an_internal_address_is_no_seed(closed: Service, url: str) -> None:
    for path, body in (("/crawl", {"url": url}), ("/crawler/seeds", {"urls": [url]})):
        reply = closed.post(path, body)
        assert reply.status == 400
        assert reply.json["error"].endswith("only public ones may be crawled here")
    scheduled = closed.form("/schedule.json", project="crawlproject", spider="site", seed=url)
    assert (scheduled.status, scheduled.json["status"]) == (400, "error")


def test_a_seed_whose_name_leads_inside_is_not_asked(site: SiteFactory, tmp_path: Path) -> None:
    """Found out at the connection, and so also for a name that changes its address."""
    server = site({"pages": {"/": {}}})
    (tmp_path / "names").mkdir()
    (tmp_path / "service").mkdir()
    service = Service(tmp_path / "service", allow_internal="no")
    service.environment["PYTHONPATH"] += f":{tmp_path / 'names'}"
    with NameServer({"rebind.example": Name("127.0.0.1")}) as names:
        (tmp_path / "names" / "sitecustomize.py").write_text(
            "from crawlproject import settings\n"
            f"settings.POLITENESS_NAME_SERVERS = [{names.address!r}]\n"
        )
        with service:
            inside = {"project": "crawlproject", "spider": "site"}
            inside["seed"] = f"http://rebind.example:{server.port}/"
            service.form("/schedule.json", **inside, jobid="inside", setting="RETRY_TIMES=0")
            done = service.until_ended("inside")
            assert (done["status"], done["exit_status"]) == ("failed", 1)
            # Nor does a setting open the inside.
            asked_for = service.form(
                "/schedule.json", **inside, setting="SCOPE_INTERNAL_SEEDS=True"
            )
            assert asked_for.status == 403
        assert names.asked("rebind.example")
    assert server.log() == []


@pytest.mark.parametrize(
    ("fields", "status", "problem"),
    [
        ({"jobid": "../../etc"}, 400, "jobid: '../../etc' is not letters, digits"),
        ({"jobid": "a b"}, 400, "jobid: 'a b' is not letters, digits"),
        ({"setting": "FEEDS={}"}, 403, "setting FEEDS: only with a username and a password"),
        ({"setting": "METRICS_PORT=9999"}, 403, "setting METRICS_PORT: only with a username"),
        ({"setting": "MONITORING_SNAPSHOT_FILE=x"}, 403, "setting MONITORING_SNAPSHOT_FILE: only"),
        ({"setting": "DOWNLOAD_DELAY=x"}, 400, "DOWNLOAD_DELAY: 'x' is not a number of seconds"),
        ({"priority": "nan"}, 400, "priority: 'nan' is not a number"),
        ({"priority": "high"}, 400, "priority: 'high' is not a number"),
        ({"spider": "a/b"}, 400, "spider: 'a/b' is not letters, digits"),
        ({"spider": "nobody"}, 400, "spider 'nobody' not found"),
        ({"project": "nothing"}, 400, "project 'nothing' not found"),
        ({"exclude": "x" * 100_001}, 400, "exclude: is too long for a job: POST /crawler/seeds"),
        ({"include": "(" * 300}, 400, "include: '(((("),
        ({"setting": "EXTENSIONS={}"}, 403, "setting EXTENSIONS: only with a username"),
        ({"setting": "REDIS_URL=redis://x"}, 403, "setting REDIS_URL: only with a username"),
        ({"setting": "ROBOTSTXT_OBEY=False"}, 403, "setting ROBOTSTXT_OBEY: only with"),
        ({"setting": "DEPTH_LIMIT"}, 400, "setting: 'DEPTH_LIMIT' is not NAME=VALUE"),
        ({"seeds_file": "/etc/passwd"}, 403, "seeds_file: only with a username and a password"),
        ({"depht": "1"}, 400, "depht: no such argument; did you mean depth?"),
        ({"depth": "x"}, 400, "depth: 'x' is not a number of links"),
        ({}, 400, "seed: missing"),
    ],
)
def test_scrapyds_own_way_to_start_a_job_is_checked_too(
    closed: Service, fields: dict[str, str], status: int, problem: str
) -> None:
    fields = {"project": "crawlproject", "spider": "site", **fields}
    if not problem.startswith("seed: "):
        fields["seed"] = "https://example.invalid/"
    reply = closed.form("/schedule.json", **fields)
    assert (reply.status, reply.json["status"]) == (status, "error")
    assert reply.json["message"].startswith(problem)
    assert closed.get("/crawler/jobs").json["total"] == 0


def test_a_job_that_is_open_is_not_started_twice(site: SiteFactory, service: Service) -> None:
    server = site({"pages": {f"/{n}" if n else "/": {"links": [f"/{n + 1}"]} for n in range(999)}})
    fields = {"project": "crawlproject", "spider": "site", "seed": server.url(), "jobid": "twice"}
    service.form("/schedule.json", **fields, delay="0.05", depth="none")
    service.until("twice", "running")
    again = service.form("/schedule.json", **fields)
    assert (again.status, again.json["message"]) == (409, "job twice is running already")
    service.post("/crawler/stop", {"job_id": "twice"})
    service.until_ended("twice")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/schedule.json", 405),
        ("POST", "/listjobs.json", 405),
        ("GET", "/listversions.json", 400),
        ("GET", "/listspiders.json?project=none", 400),
        ("POST", "/cancel.json", 400),
        ("POST", "/cancel.json?project=crawlproject&job=x&signal=STOP", 400),
        ("POST", "/cancel.json?project=none&job=x", 400),
        ("GET", "/page/page.js/more", 404),
    ],
)
def test_scrapyds_own_services_have_a_status_that_fits(
    closed: Service, method: str, path: str, status: int
) -> None:
    reply = closed.ask(method, path)
    assert (reply.status, reply.headers["content-type"]) == (status, "application/json")
    assert reply.json.keys() & {"message", "error"}
    assert "Traceback" not in closed.log()


@pytest.mark.parametrize("path", ["/addversion.json", "/delversion.json", "/delproject.json"])
def test_nobody_deploys_without_a_password(closed: Service, path: str) -> None:
    reply = closed.form(path, project="crawlproject", version="1", egg="x")
    assert (reply.status, reply.json["status"]) == (403, "error")
    assert reply.json["message"] == (
        "who deploys runs code here: set a username and a password in scrapyd.conf first"
    )


def test_with_a_password_nothing_is_answered_without_it(protected: Service) -> None:
    for method, path in (
        *(("GET", path) for path in ("/", "/page/page.js", "/metrics", "/crawler/jobs", "/logs/")),
        *(("POST", path) for path in ("/crawl", "/schedule.json", "/addversion.json")),
    ):
        refused = protected.ask(method, path, headers={"Authorization": "Basic eDp5"})
        assert (refused.status, protected.get("/").status) == (401, 200)
    # And its name is its own affair.
    assert protected.get("/", Host="crawl.example").status == 200


def test_strangers_cannot_send_much(protected: Service) -> None:
    for content in (b"a=&" * 20_000, b"x" * 100_000):
        reply = protected.ask(
            "POST",
            "/addversion.json",
            content=content,
            headers={
                "Authorization": "Basic eDp5",
                "Content-Type": "application/x-www-form-urlencoded",
            },
        )
        assert reply.status == 413
        assert reply.json == {"error": "the body has more than 16,384 bytes: send fewer"}


def test_what_a_site_says_is_no_format_in_the_log(site: SiteFactory, service: Service) -> None:
    server = site({"pages": {"/": {"redirect": "http://[{log_system:5000}{nosuch}"}}})
    job = service.order(server.url())
    done = service.until_ended(job)
    assert done["status"] == "failed"
    assert "{log_system:5000}{nosuch}" in done["problem"]
    assert "{log_system:5000}{nosuch}" in service.log()
    assert "Unable to format" not in service.log()


def test_a_password_for_a_site_is_in_no_log_of_the_service(
    site: SiteFactory, protected: Service
) -> None:
    server = site({"pages": {"/": {}}})
    protected.form(
        "/schedule.json",
        project="crawlproject",
        spider="site",
        seed=server.url(),
        jobid="secretive",
        setting="HTTPAUTH_PASS=tellnobody",
    )
    assert protected.until_ended("secretive")["status"] == "finished"
    assert "tellnobody" not in protected.log()


def test_a_job_may_be_a_worker_of_a_shared_crawl(
    site: SiteFactory, protected: Service, redis_url: str
) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}}})
    job = {"project": "crawlproject", "spider": "site", "seed": server.url(), "jobid": "worker"}
    protected.form("/schedule.json", **job, setting=f"REDIS_URL={redis_url}")
    done = protected.until_ended("worker")
    assert (done["status"], done["problem"]) == ("finished", None)
    assert len(done["sitemap"]["pages"]) == 2
    # What is only in a crawl directory is not told.
    live = protected.get("/crawler/jobs/worker/live").json
    assert (live["hosts"], live["skips"]) == ([], [])


def test_two_services_do_not_share_a_folder(closed: Service) -> None:
    other = dict(closed.environment, SCRAPYD_HTTP_PORT=str(free_port()))
    result = subprocess.run(
        [sys.executable, "-m", "crawlproject.service"],
        cwd=closed.folder,
        env=other,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 2
    assert result.stderr == (
        "serve: error: another service uses 'var/dbs': stop it, or give this one a folder of its "
        "own\n"
    )


def test_a_job_is_not_told_the_password(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {}}})
    (tmp_path / "teller.py").write_text(
        "import os\n"
        "class Teller:\n"
        "    def process_item(self, item):\n"
        "        item.extra['environment'] = sorted(os.environ.values())\n"
        "        return item\n"
    )
    (tmp_path / "service").mkdir()
    secrets = {"SCRAPYD_USERNAME": USER, "SCRAPYD_PASSWORD": PASSWORD}
    service = Service(tmp_path / "service", environment=secrets)
    service.environment["PYTHONPATH"] += f":{tmp_path}"
    service.is_protected = True
    with service:
        service.form(
            "/schedule.json",
            project="crawlproject",
            spider="site",
            seed=server.url(),
            jobid="teller",
            setting='ITEM_PIPELINES={"teller.Teller": 500}',
        )
        (page,) = service.until_ended("teller")["sitemap"]["pages"]
    assert page["environment"]
    assert not {USER, PASSWORD} & set(page["environment"])


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"scrapyd": {"username": "ann"}}, "password: missing: give both a username and a"),
        ({"scrapyd": {"password": "x"}}, "username: missing: give both a username and a"),
        ({"scrapyd": {"username": "a:b", "password": "x"}}, "username: 'a:b' holds a colon"),
        ({"scrapyd": {"bind_address": "0.0.0.0"}}, "bind_address: '0.0.0.0' is open to others"),
        ({"scrapyd": {"http_port": "99999"}}, "http_port: '99999' is not a whole number from 1"),
        ({"scrapyd": {"http_port": "0"}}, "http_port: '0' is not a whole number from 1"),
        ({"scrapyd": {"unix_socket_path": "s"}}, "unix_socket_path: is not for this service"),
        ({"scrapyd": {"jobs_dir": ""}}, "scrapyd.conf: jobs_dir is empty: name a folder"),
        ({"scrapyd": {"items_dir": "items"}}, "scrapyd.conf: items_dir takes the place of all"),
        ({"max_pending": "many"}, "scrapyd.conf: [crawlproject] max_pending: 'many' is not a"),
        ({"max_penning": "1"}, "scrapyd.conf: [crawlproject] max_penning: no such option; there"),
        ({"scrapyd": {"webroot": "scrapyd.website.Root"}}, "there is no scrapyd.conf of crawlpr"),
    ],
)
def test_what_is_not_safe_is_not_started(
    tmp_path: Path, changes: dict[str, dict[str, str]], problem: str
) -> None:
    service = Service(tmp_path, **changes)  # type: ignore[arg-type]
    result = subprocess.run(
        [sys.executable, "-m", "crawlproject.service"],
        cwd=tmp_path,
        env=service.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 2
    assert result.stderr.startswith(f"serve: error: {problem}")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


@pytest.mark.parametrize("name", ["JOBDIR", "LOG_FILE", "METRICS_PORT", "MONITORING_SUMMARY"])
def test_a_setting_that_the_service_sets_itself_is_refused(protected: Service, name: str) -> None:
    job = {"project": "crawlproject", "spider": "site", "seed": "https://example.invalid/"}
    reply = protected.form("/schedule.json", **job, setting=f"{name}=7")
    assert reply.status == 400
    assert reply.json["message"].startswith(f"setting {name}: the service sets it for each job")
