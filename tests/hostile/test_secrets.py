"""A password comes in at many doors, and must not come out: in no file, log, output, answer of the
service or command line. It is sent to the origins that it is for, and to no other.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from crawlproject.errors import BadArgument
from crawlproject.fetching.origin_auth import OriginAuth
from crawlproject.frontier.redis.binary import Server
from crawlproject.redaction import Redactor
from crawlproject.spiders import arguments
from tests.browser import needs_browser
from tests.crawling import command_environment, crawl_site, fresh_scrapy, project_settings, scrapy
from tests.forking import Forked
from tests.hostile.canaries import Canaries, children_of, command_lines
from tests.service.serving import USER, Service, free_port
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

SITE: dict[str, Any] = {
    "robots": "User-agent: *\nDisallow:\n",
    "pages": {"/": {"links": ["/a", "/b", "/broken"]}, "/a": {}, "/b": {"redirect": "/a"}},
}
OUTPUTS = [f"out.{kind}" for kind in ("json", "jsonl", "csv", "xml", "html", "warc.gz")]


def sent_to(server: Site) -> dict[str, bool]:
    """The paths that were asked for, and whether with credentials."""
    return {
        entry["path"]: any(name.lower() == "authorization" for name in entry["headers"])
        for entry in server.log()
    }


# --- where a secret must not be


def test_a_crawl_tells_nobody(site: SiteFactory, tmp_path: Path) -> None:
    """Settings of the command line, of a file and of the environment; with all there is to write,
    and every line of the log.
    """
    server, canary = site(SITE), Canaries("crawl")
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "team_settings.py").write_text(
        "from crawlproject.settings import *\n"
        f"MAIL_PASS = {canary('mail')!r}\n"
        f"TEAM_API_TOKEN = {canary('token')!r}\n"
        f"TEAM_STORES = [{{'accessKey': {canary('nested')!r}}}]\n"
        f"TEAM_DATABASE = 'postgres://me:{canary('database')}@127.0.0.1/x?sslpassword=x'\n"
        # Long enough that Python's pprint breaks it at its spaces.
        f"TEAM_PASSWORD = {' '.join([canary('long')] * 9)!r}\n"
    )
    headers = {"X-Api-Key": canary("header"), "Cookie": f"id={canary('cookie')}"}
    done = scrapy(
        *("crawl", "site", "-a", f"seed={server.url()}", "-L", "DEBUG", "--logfile", "crawl.log"),
        *("-s", f"HTTPAUTH_PASS={canary('option')}", "-s", "HTTPAUTH_USER=me"),
        *("-s", f"AWS_SECRET_ACCESS_KEY={canary('aws')}", "-s", f"FTP_PASSWORD={canary('ftp')}"),
        *("-s", f"DEFAULT_REQUEST_HEADERS={json.dumps(headers)}"),
        *("-s", "JOBDIR=job", "-s", "STORE_BODIES=yes", "-s", "MONITORING_SNAPSHOT_FILE=now.json"),
        *(word for name in OUTPUTS for word in ("-O", name)),
        cwd=folder,
        PYTHONPATH=f"{command_environment()['PYTHONPATH']}:{tmp_path}",
        SCRAPY_SETTINGS_MODULE="team_settings",
        AWS_SESSION_TOKEN=canary("environment"),
        https_proxy=f"http://me:{canary('proxy')}@127.0.0.1:1",
    )
    assert done.returncode == 0, done.stderr
    # It came in at all of them: the site was sent what is for it.
    sent = {name.lower(): value for name, value in server.log()[-1]["headers"].items()}
    assert canary.found_in(json.dumps(sent)) == ["header", "cookie", "option"]
    log = (folder / "crawl.log").read_text()
    assert "Overridden settings" in log
    assert "'HTTPAUTH_PASS': '***'" in log
    assert (canary.found_in(done.stdout + done.stderr), canary.files(folder)) == ([], {})


def test_a_dead_proxy_and_a_traceback_tell_nobody(site: SiteFactory, tmp_path: Path) -> None:
    server, canary = site(SITE), Canaries("trouble")
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "clumsy.py").write_text(
        "import logging\n"
        "class Clumsy:\n"
        "    @classmethod\n"
        "    def from_crawler(cls, crawler):\n"
        "        self = cls()\n"
        "        self.settings = crawler.settings\n"
        "        return self\n"
        "    def process_item(self, item):\n"
        "        logging.getLogger('team').info('sent with %s', self.settings['HTTPAUTH_PASS'])\n"
        "        raise ValueError(f'no {self.settings[\"HTTPAUTH_PASS\"]} for {item.url}')\n"
    )
    options = ("-a", f"seed={server.url()}", "-L", "DEBUG", "-O", "out.json", "-O", "out.html")
    proxy = f"http://me:{canary('proxy')}@127.0.0.1:{free_port()}"
    impatient = ("-s", "ROBOTSTXT_OBEY=no", "-s", "RETRY_TIMES=0", "-a", "sitemaps=never")
    done = scrapy("crawl", "site", *options, *impatient, cwd=folder, http_proxy=proxy, no_proxy="")
    assert done.returncode == 1, done.stderr
    assert (canary.found_in(done.stdout + done.stderr), canary.files(folder)) == ([], {})
    done = scrapy(
        *("crawl", "site", *options, "-s", f"HTTPAUTH_PASS={canary('option')}"),
        *("-s", 'ITEM_PIPELINES={"clumsy.Clumsy": 50}'),
        cwd=folder,
        PYTHONPATH=f"{command_environment()['PYTHONPATH']}:{tmp_path}",
    )
    assert "sent with ***" in done.stderr
    assert "ValueError: no *** for" in done.stderr
    assert (canary.found_in(done.stdout + done.stderr), canary.files(folder)) == ([], {})


BAD = [
    ["-a", "seed=http://me:{}@127.0.0.1:1/"],
    ["-a", "seed=http://{}@127.0.0.1:1/"],
    ["-a", "seed=http://me:{},x@127.0.0.1:1/"],
    ["-a", "seed=me:{}@127.0.0.1"],
    ["-a", "seed=ftp://me:{}@127.0.0.1/"],
    ["-a", "seed=http:\\\\me:{}@127.0.0.1/"],
    ["-a", "seed=http://" + "m" * 85 + ":{}@127.0.0.1:99999999/"],
    ["-a", "seeds_file=seeds.txt"],
    ["-a", "password={}"],
    ["-s", "REDIS_URL=redis://:{}@127.0.0.1:1/0"],
    ["-s", "REDIS_URL=redis://:a/{}@127.0.0.1:1/0"],
    ["-s", "REDIS_URL=redis://127.0.0.1:1/0?password={}"],
    ["-s", 'REDIS_PARAMS={{"password": "{}"'],
    ["-s", 'REDIS_PARAMS=["password", "{}"]'],
    ["-s", "STORE_BODIES=yes", "-s", "STORE_URI=s3://key:{}@bucket/x"],
    ["-s", "STORE_BODIES=yes", "-s", "STORE_URI=ftp://me:{}@127.0.0.1:1/x"],
    ["-s", "STORE_BODIES=yes", "-s", "STORE_URI=nosuch://me:{}@127.0.0.1:1/x?secret={}"],
    ["-O", "s3://key:{}@bucket/x.json"],
    ["-O", "nosuch://me:{}@127.0.0.1/x.json"],
    ["-O", "ftp://me:{}@127.0.0.1/x.nosuch"],
    ["-s", 'FEEDS={{"ftp://me:{}@127.0.0.1:1/x.json": "json"}}'],
    ["-s", "HTTPAUTH_PAS={}"],
    ["-s", "HTTPAUTH_USER=me", "-s", "HTTPAUTH_DOMAIN=https://me:{}@"],
    ["-s", "HTTPAUTH_PASS={}", "-a", "depth=x{}"],
]


@pytest.mark.parametrize("options", BAD, ids=lambda options: options[-1][:40])
def test_an_error_does_not_repeat_a_secret(options: list[str], tmp_path: Path) -> None:
    canary = Canaries("error")
    secret = canary("option")
    (tmp_path / "seeds.txt").write_text(f"http://me:{secret}@127.0.0.1/\n")
    given = [word.format(*[secret] * 2) for word in options]
    seed = [] if any("seed" in word for word in options) else ["-a", "seed=http://127.0.0.1:1/"]
    done = scrapy("crawl", "site", *seed, *given, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "scrapy crawl: error: " in done.stderr
    assert canary.found_in(done.stdout + done.stderr) == []
    assert "mmm:canary" not in done.stderr


def test_a_secret_may_come_from_the_environment(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SITE)
    options = ("crawl", "site", "-a", f"seed={server.url()}", "-s", "HTTPAUTH_USER=me")
    done = fresh_scrapy(*options, cwd=tmp_path, CRAWLPROJECT_HTTPAUTH_PASS="quiet-canary")
    assert done.returncode == 0, done.stderr
    assert "command line" not in done.stderr
    assert set(sent_to(server).values()) == {True}
    # On the command line it works, too, and the user is told who can read it.
    done = fresh_scrapy(*options, "-s", "HTTPAUTH_PASS=loud-canary", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (
        "HTTPAUTH_PASS is on the command line, where every user of this machine can read it: set "
        "CRAWLPROJECT_HTTPAUTH_PASS in the environment instead"
    ) in done.stderr
    assert "loud-canary" not in done.stderr
    done = scrapy(*options, cwd=tmp_path, CRAWLPROJECT_HTTPAUTH_PAS="x")
    assert done.returncode == 2
    assert "the environment has CRAWLPROJECT_HTTPAUTH_PAS, and there is no setting" in done.stderr


def test_variables_of_a_cluster_are_no_settings(site: SiteFactory, tmp_path: Path) -> None:
    """Kubernetes sets them for a service that is called as we are."""
    server = site(SITE)
    done = scrapy(
        *("crawl", "site", "-a", f"seed={server.url()}"),
        cwd=tmp_path,
        CRAWLPROJECT_SERVICE_HOST="10.0.0.1",
        CRAWLPROJECT_PORT_80_TCP="tcp://x",
    )
    assert done.returncode == 0, done.stderr


def test_commands_that_read_take_variables_too(tmp_path: Path) -> None:
    done = scrapy("page", "job", "/", cwd=tmp_path, CRAWLPROJECT_STORE_UR="x")
    assert done.returncode == 2
    assert "the environment has CRAWLPROJECT_STORE_UR, and there is no setting" in done.stderr
    done = scrapy("diff", "a", "b", cwd=tmp_path, CRAWLPROJECT_STORE_UR="x")
    assert done.returncode == 2


def test_a_secret_that_a_job_writes_in_two_pieces_is_hidden() -> None:
    # It imports the reactor.
    from crawlproject.service.process import Process

    secrets = Redactor()
    secrets.learn({"HTTPAUTH_PASS": "two-piece-canary"})
    process = Process("project", "site", "job", {}, [])
    process.tell("", secrets)
    process.pid = 1
    process.errReceived(b"the password is two-pie")
    process.errReceived(b"ce-canary\nand m")
    assert process.last_words == "the password is ***"
    process.errReceived(b"ore\n")
    assert process.last_words == "and more"


def test_the_service_tells_nobody(site: SiteFactory, tmp_path: Path) -> None:
    """One job runs, one waits, both with secrets; the service is killed, and they go on."""
    slow = {"/": {"links": [f"/{n}" for n in range(200)]}}
    server = site({"pages": slow, "default": {"delay": 0.2}, "robots": ""})
    canary = Canaries("service")
    environment = {
        "SCRAPYD_USERNAME": USER,
        "SCRAPYD_PASSWORD": canary("service"),
        "AWS_SECRET_ACCESS_KEY": canary("aws"),
        "https_proxy": f"http://me:{canary('proxy')}@127.0.0.1:1",
        "CRAWLPROJECT_HTTPAUTH_PASS": canary("other"),
    }
    service = Service(tmp_path, environment=environment, scrapyd={"max_proc": "1"})
    service.is_protected, service.password = True, canary("service")
    order = {"project": "crawlproject", "spider": "site", "seed": server.url("/")}
    first = {**order, "jobid": "first", "setting": f"HTTPAUTH_PASS={canary('setting')}"}
    with service:
        assert service.form("/schedule.json", **first).status == 200
        query = f"setting=REDIS_URL=redis://:{canary('redis')}@127.0.0.1:1/0"
        second = {**order, "jobid": "second", "password": canary("argument")}
        # Our own spider takes no such argument, and the refusal does not repeat it.
        refused = service.form(f"/schedule.json?{query}", **second)
        assert refused.status == 400
        assert canary.found_in(refused.content) == []
        second.pop("password")
        assert service.form(f"/schedule.json?{query}", **second).status == 200
        wait_for(lambda: any(service.get("/crawler/jobs/first/pages").json["pages"]))
        look_everywhere(service, canary, "first", "second")
        assert '"settings": {"REDIS_URL": "redis://***@127.0.0.1:1/0"}' in json.dumps(
            service.get("/listjobs.json").json
        )
        # The book is for its owner only, and has what a job needs to go on.
        service.stop(signal.SIGKILL)
        assert canary.files(tmp_path, *BOOK) == {}
        server.set({**SITE, "pages": {"/": {}}, "default": {}})
        service.start()
        assert service.until_ended("first")["status"] == "finished"
        failed = service.until_ended("second")
        assert failed["status"] == "failed"
        assert "redis://127.0.0.1:1/0: nobody listens" in failed["problem"]
        look_everywhere(service, canary, "first", "second")
    # The job that went on still had its password.
    assert set(sent_to(server).values()) == {True}
    # Of what has finished, the book has no secret any more.
    found = canary.files(tmp_path, "scrapyd.conf")
    assert {door for doors in found.values() for door in doors} <= {"redis"}
    assert set(found) <= {f"var/dbs/{name}" for name in BOOK}


BOOK = ("book.sqlite", "book.sqlite-wal", "book.sqlite-shm")
# Of scrapyd and of ours.
PATHS = (
    *("/", "/jobs", "/crawler/jobs", "/crawler/stats", "/metrics", "/openapi.json", "/logs/"),
    *("/listjobs.json", "/listjobs.json?project=crawlproject", "/daemonstatus.json"),
    *("/listprojects.json", "/status.json?job={job}"),
    *("/crawl/{job}", "/crawler/jobs/{job}/status", "/crawler/jobs/{job}/live"),
    *("/crawler/jobs/{job}/pages", "/crawl/{job}/outputs/sitemap.json"),
    *("/logs/crawlproject/site/{job}.log", "/crawl/nosuch", "/schedule.json"),
)


def look_everywhere(service: Service, canary: Canaries, *jobs: str) -> None:
    for path in PATHS:
        for job in jobs:
            answer = service.get(path.format(job=job))
            assert canary.found_in(answer.content) == [], (path, answer.content)
    lines = command_lines()
    assert any("crawlproject.service.runner crawl site" in line for line in lines) or not any(
        service.job(job)["status"] == "running" for job in jobs
    )
    assert canary.processes() == []
    assert canary.found_in(service.log()) == []


def test_a_job_of_another_project_tells_nobody(tmp_path: Path) -> None:
    """One that has nothing of this package, as Scrapy's own log has it."""
    canary = Canaries("project")
    (tmp_path / "scrapyd.conf").write_text("[scrapyd]\n[settings]\nplain = plain_settings\n")
    (tmp_path / "plain_settings.py").write_text('SPIDER_MODULES = ["plain_spider"]\n')
    (tmp_path / "plain_spider.py").write_text(
        "import scrapy\n"
        "class Plain(scrapy.Spider):\n"
        "    name = 'plain'\n"
        "    async def start(self):\n"
        "        self.logger.info('opened with %s', self.token)\n"
        "        return\n"
        "        yield\n"
    )
    options = ["-s", f"HTTPAUTH_PASS={canary('setting')}", "-s", "HTTPAUTH_DOMAIN=x.example"]
    options += ["-a", f"token={canary('argument')}", "-s", "LOG_FILE=job.log"]
    done = subprocess.run(
        [sys.executable, "-m", "crawlproject.service.runner", "crawl", "plain"],
        input=json.dumps(options),
        cwd=tmp_path,
        env=command_environment(SCRAPY_PROJECT="plain", CRAWLPROJECT_OPTIONS_ON_STDIN="1"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    log = (tmp_path / "job.log").read_text()
    assert "'HTTPAUTH_PASS': '***'" in log
    assert "opened with ***" in log
    assert (canary.found_in(done.stdout + done.stderr), canary.files(tmp_path)) == ([], {})


def test_workers_tell_nobody(site: SiteFactory, tmp_path: Path) -> None:
    canary = Canaries("cluster")
    many = {"/": {"links": [f"/{n}" for n in range(30)]}}
    server = site({"pages": many, "default": {"delay": 0.1}, "robots": ""})
    folder = tmp_path / "work"
    folder.mkdir()
    with Server(tmp_path / "redis", password=canary("redis")) as redis:
        command = [
            *(sys.executable, "-m", "scrapy", "cluster", "site", "-n", "2", "-L", "DEBUG"),
            *("-a", f"seed={server.url()}", "-O", "out.json", "--logfile", "cluster.log"),
            *("-s", f"REDIS_URL={redis.url}", "-s", f"HTTPAUTH_PASS={canary('option')}"),
            *("-s", "STORE_BODIES=True", "-s", "STORE_URI=bodies"),
        ]
        with Forked[str](
            command,
            cwd=folder,
            env=command_environment(AWS_SECRET_ACCESS_KEY=canary("aws")),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                wait_for(lambda: len(server.log()) > 5)
                workers = [pid for pid in children_of(process.pid) if "worker" in line_of(pid)]
                assert len(workers) == 2
                assert canary.processes() == []
                said = process.communicate(timeout=60)[0]
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        assert process.returncode == 0, said
        assert set(sent_to(server).values()) == {True}
        assert "Overridden settings" in (folder / "cluster.log").read_text()
        assert (canary.found_in(said), canary.files(folder)) == ([], {})


def line_of(process: int) -> str:
    from pathlib import Path

    return Path(f"/proc/{process}/cmdline").read_text()


# --- where a secret is sent


@deferred_f_from_coro_f
async def test_credentials_go_to_the_origin_of_the_seed_and_nowhere_else(site: SiteFactory) -> None:
    other = site({"pages": {"/": {}, "/elsewhere": {}}, "robots": ""}, all_loopback=True)
    server = site(
        {
            "robots": "User-agent: *\nDisallow: /private\n",
            "pages": {
                "/": {
                    "links": [
                        "/a",
                        "/moved",
                        other.url("/elsewhere"),
                        "http://127.0.0.2:{port}/neighbour",
                    ]
                },
                "/a": {},
                "/moved": {"redirect": other.url("/target")},
            },
        },
        all_loopback=True,
    )
    settings = {"HTTPAUTH_USER": "me", "HTTPAUTH_PASS": "x", "SITEMAPS_MODE": "always"}
    await crawl_site(server.url(), settings, scope="any")
    by_host: dict[str, set[bool]] = {}
    for entry in [*server.log(), *other.log()]:
        has_it = any(name.lower() == "authorization" for name in entry["headers"])
        by_host.setdefault(entry["host"], set()).add(has_it)
    assert by_host == {
        f"127.0.0.1:{server.port}": {True},
        f"127.0.0.2:{server.port}": {False},
        f"127.0.0.1:{other.port}": {False},
    }
    # robots.txt and the sitemap of a protected site are protected, too.
    own = {e["path"] for e in server.log() if e["host"] == f"127.0.0.1:{server.port}"}
    assert own >= {"/robots.txt", "/sitemap.xml", "/", "/a", "/moved"}
    assert {"/robots.txt", "/elsewhere", "/target"} <= {e["path"] for e in other.log()}


@needs_browser
@deferred_f_from_coro_f
async def test_a_script_gets_what_is_behind_the_password_at_home_only(site: SiteFactory) -> None:
    """Else a page of another origin could have the crawler fetch it, and send it on."""
    code = "fetch('{}/data').then((answer) => answer.text())"

    def page(origin: str) -> dict[str, Any]:
        scripts = f'<script src="{origin}/app.js"></script><script>{code.format(origin)}</script>'
        return {"body": f'<body><div id="root"></div>{scripts}<a href="{{0}}"></a></body>'}

    open_to_all = {"headers": {"Access-Control-Allow-Origin": "*"}, "content_type": "text/plain"}
    server, other = site({}), site({})
    home = page(server.url(""))
    home["body"] = home["body"].format(other.url())
    spec = {"/": home, "/data": {"body": "x", **open_to_all}, "/app.js": {"body": "1"}}
    server.set({"pages": spec})
    other.set({"pages": {"/": page(server.url(""))}})
    settings = {"HTTPAUTH_USER": "me", "HTTPAUTH_PASS": "x", "ROBOTSTXT_OBEY": False}
    # However busy the machine is.
    settings |= {"RENDER_TIMEOUT_SECONDS": 120, "DOWNLOAD_TIMEOUT": 60}
    await crawl_site(server.url(), settings, scope="any", render="always")
    asked: dict[str, list[bool]] = {}
    for entry in server.log():
        has_it = any(name.lower() == "authorization" for name in entry["headers"])
        asked.setdefault(entry["path"], []).append(has_it)
    assert asked == {"/": [True], "/data": [True, False], "/app.js": [True, False]}
    assert not any(sent_to(other).values())


def credentials(url: str, seed: str = "https://staging.example", **settings: Any) -> bool:
    """Whether a request is sent with the credentials of a crawl."""
    project = project_settings({"HTTPAUTH_USER": "me", "HTTPAUTH_PASS": "secret", **settings})
    arguments.apply({"seed": seed}, project)
    crawler = get_crawler(settings_dict=dict(project))
    crawler.spider = crawler._create_spider("spider")
    middleware = build_from_crawler(OriginAuth, crawler)
    middleware.spider_opened(crawler.spider)
    request = Request(url)
    middleware.process_request(request)
    return b"Authorization" in request.headers


@pytest.mark.parametrize(
    ("seed", "url", "is_sent"),
    [
        ("https://staging.example", "https://staging.example/x", True),
        ("https://staging.example", "https://STAGING.example:443/x", True),
        ("https://staging.example", "http://staging.example/x", False),
        ("https://staging.example", "https://sub.staging.example/x", False),
        ("https://staging.example", "https://xstaging.example/x", False),
        ("https://staging.example", "https://staging.example:8443/x", False),
        ("https://staging.example", "https://staging.example.evil.example/x", False),
        ("https://staging.example", "https://staging.example@evil.example/x", False),
        ("https://staging.example:8443", "https://staging.example:8443/x", True),
        ("https://staging.example:8443", "https://staging.example/x", False),
        ("http://staging.example", "https://staging.example/x", False),
        ("http://[::1]:80/", "http://[::1]/x", True),
        ("http://[::1]/", "http://[::1]:81/x", False),
        ("https://a.example https://a.example:81", "https://a.example:81/x", True),
        ("https://a.example https://a.example:81", "https://a.example:82/x", False),
    ],
)
def test_an_origin_is_scheme_host_and_port(seed: str, url: str, is_sent: bool) -> None:
    assert credentials(url, seed) is is_sent


@pytest.mark.parametrize(
    ("domain", "url", "is_sent"),
    [
        # An origin, or some.
        ("https://login.example:8443", "https://login.example:8443/x", True),
        ("https://login.example:8443", "https://staging.example/x", False),
        ("https://a.example, http://b.example", "http://b.example/x", True),
        ("https://a.example, http://b.example", "https://b.example/x", False),
        # As Scrapy has it: a domain with its subdomains, in any scheme; None is everybody.
        ("example.com", "http://sub.example.com/x", True),
        ("example.com", "http://example.org/x", False),
        (None, "http://anybody.example/x", True),
    ],
)
def test_the_user_may_say_who_gets_the_credentials(
    domain: str | None, url: str, is_sent: bool
) -> None:
    assert credentials(url, HTTPAUTH_DOMAIN=domain) is is_sent


def test_a_domain_that_is_none_is_refused() -> None:
    with pytest.raises(BadArgument, match=r"^HTTPAUTH_DOMAIN: 'b.example' is not an origin such"):
        credentials("http://b.example", HTTPAUTH_DOMAIN="https://a.example b.example")
    settings = project_settings({"HTTPAUTH_USER": "me", "REDIS_URL": "redis://127.0.0.1:1"})
    settings.set("FRONTIER_WAIT_FOR_SEEDS", True)
    with pytest.raises(BadArgument, match=r"^HTTPAUTH_DOMAIN: missing: seeds come later"):
        arguments.apply({}, settings)


def test_a_request_has_its_own_credentials() -> None:
    crawler = get_crawler(settings_dict=dict(project_settings()))
    crawler.spider = crawler._create_spider("spider")
    middleware = build_from_crawler(OriginAuth, crawler)
    middleware.spider_opened(crawler.spider)
    meta = {"http_user": "me", "http_pass": "secret", "http_auth_domain": "https://a.example"}

    def is_sent(url: str) -> bool:
        request = Request(url, meta=meta)
        middleware.process_request(request)
        return b"Authorization" in request.headers

    assert is_sent("https://a.example/x")
    assert not is_sent("http://a.example/x")
    assert not is_sent("https://sub.a.example/x")
    own = Request("https://a.example/x", headers={"Authorization": "Bearer own"}, meta=meta)
    middleware.process_request(own)
    assert own.headers.getlist("Authorization") == [b"Bearer own"]
