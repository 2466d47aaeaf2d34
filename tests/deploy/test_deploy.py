"""What is in deploy/ fits together, and fits the code: names, ports, passwords, rules, panels."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import product
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from crawlproject import settings
from crawlproject.monitoring.metrics import METRIC_NAMES
from crawlproject.spiders.arguments import ARGUMENTS
from tests.crawling import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEPLOY = PROJECT / "deploy"
PROMETHEUS = DEPLOY / "prometheus"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


def load(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(path.read_text())
    return document


COMPOSE = load(DEPLOY / "compose.yaml")
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
SCRAPES = {job["job_name"]: job for job in load(PROMETHEUS / "prometheus.yml")["scrape_configs"]}
ALERTS = {
    rule["alert"]: rule
    for group in load(PROMETHEUS / "alerts.yml")["groups"]
    for rule in group["rules"]
}
DASHBOARD = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def run(*command: str, cwd: Path = PROMETHEUS, **variables: str) -> None:
    environment = {**os.environ, **variables}
    result = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


# Prometheus


@pytest.fixture(scope="module")
def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip(
            os.environ.get("PROMETHEUS_MISSING") or "no promtool: apt-get install prometheus"
        )
    return found


def test_the_alert_rules_are_valid(promtool: str) -> None:
    run(promtool, "check", "rules", "alerts.yml")


def test_alerts_fire_where_they_should_and_only_there(promtool: str) -> None:
    run(promtool, "test", "rules", "alerts_test.yml")


def test_the_configuration_of_prometheus_is_valid(promtool: str, tmp_path: Path) -> None:
    """With its rules, and a password where it is looked for."""
    (tmp_path / "password").write_text("secret")
    shutil.copy(PROMETHEUS / "alerts.yml", tmp_path)
    text = (PROMETHEUS / "prometheus.yml").read_text()
    place = SCRAPES["crawlproject"]["basic_auth"]["password_file"]
    (tmp_path / "prometheus.yml").write_text(text.replace(place, str(tmp_path / "password")))
    run(promtool, "check", "config", "prometheus.yml", cwd=tmp_path)


def metrics_in(expression: str) -> set[str]:
    """The metrics of a query, by the names that the code has for them."""
    names = re.findall(r"\bcrawlproject_\w+", expression)
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_says_how_bad_it_is_and_what_to_do(name: str) -> None:
    rule = ALERTS[name]
    assert name.startswith("Crawl")  # by which the dashboard finds them
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert rule["for"]
    assert rule["annotations"].keys() == {"summary", "description"}
    assert metrics_in(rule["expr"]) <= METRIC_NAMES
    told = rule["annotations"]["description"]
    named = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", told)) - {"SCRAPYD_PASSWORD"}
    assert named <= vars(settings).keys()
    assert set(re.findall(r"-a (\w+)=", told)) <= ARGUMENTS.keys()


def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    cases = {
        (case["alertname"], bool(case["exp_alerts"]))
        for test in load(PROMETHEUS / "alerts_test.yml")["tests"]
        for case in test["alert_rule_test"]
    }
    assert cases == set(product(ALERTS, (True, False)))


# Grafana


def test_the_dashboard_shows_every_metric_and_no_other() -> None:
    shown = [target["expr"] for panel in PANELS for target in panel["targets"]]
    assert set().union(*map(metrics_in, shown)) == METRIC_NAMES


def test_the_dashboard_names_only_alerts_that_exist() -> None:
    named = set(re.findall(r"\bCrawl[A-Z]\w+", json.dumps(DASHBOARD)))
    assert named
    assert named <= ALERTS.keys()


def test_panels_fill_24_columns_and_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert 0 <= place["x"] <= 24 - place["w"]
        across = range(place["x"], place["x"] + place["w"])
        cells = set(product(across, range(place["y"], place["y"] + place["h"])))
        assert not cells & taken, panel["title"]
        taken |= cells
    assert len(taken) == 24 * (1 + max(y for _, y in taken))
    numbers = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: str(panel["title"]))
def test_a_panel_says_what_it_shows_of_the_crawls_that_were_chosen(panel: dict[str, Any]) -> None:
    assert panel["description"]
    assert panel["type"] == "table" or panel["fieldConfig"]["defaults"]["unit"]
    for queried in (panel, *panel["targets"]):
        assert queried["datasource"] == {"type": "prometheus", "uid": "${DS}"}
    for target in panel["targets"]:
        of_crawls = metrics_in(target["expr"]) - {"crawlproject_jobs"}
        assert target["expr"].count('{crawl=~"$crawl"') >= len(of_crawls)


def test_the_dashboard_lets_choose_its_source_and_any_crawls() -> None:
    variables = {one["name"]: one for one in DASHBOARD["templating"]["list"]}
    assert variables.keys() == {"DS", "crawl"}
    assert (variables["DS"]["type"], variables["DS"]["query"]) == ("datasource", "prometheus")
    assert metrics_in(variables["crawl"]["query"]["query"]) <= METRIC_NAMES
    assert variables["crawl"]["includeAll"]
    assert variables["crawl"]["multi"]


def test_grafana_finds_its_source_and_its_dashboard() -> None:
    folder = DEPLOY / "grafana" / "provisioning"
    (source,) = load(folder / "datasources" / "prometheus.yml")["datasources"]
    assert source["type"] == "prometheus"
    assert source["url"] == "http://prometheus:9090"
    (provider,) = load(folder / "dashboards" / "crawlproject.yml")["providers"]
    mounts = dict(mount.split(":")[:2] for mount in SERVICES["grafana"]["volumes"])
    assert mounts["./grafana/dashboard.json"] == f"{provider['options']['path']}/dashboard.json"
    assert mounts["./grafana/provisioning"] == "/etc/grafana/provisioning"


# Dockerfile


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"(<<'(\w+)'.*?\n).*?^\2$", r"\1", DOCKERFILE, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    found = [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]
    return [(name, " ".join(rest.split())) for name, rest in found]


INSTRUCTIONS = instructions()
LAST_STAGE = INSTRUCTIONS[max(i for i, (name, _) in enumerate(INSTRUCTIONS) if name == "FROM") :]


def is_pinned(image: str) -> bool:
    """Has a digest, or a tag with a version of at least two numbers."""
    _, _, tag = image.partition(":")
    return "@sha256:" in image or re.match(r"v?\d+\.\d+", tag) is not None


def test_base_images_are_pinned() -> None:
    arguments = [rest for name, rest in INSTRUCTIONS if name == "ARG"]
    # Without a value it is the one of the first lines, in a stage.
    defaults = dict(rest.split("=", 1) for rest in arguments if "=" in rest)
    stages = [rest.split() for name, rest in INSTRUCTIONS if name == "FROM"]
    names = {words[2] for words in stages if len(words) == 3}
    bases = [re.sub(r"\$\{(\w+)\}", lambda match: defaults[match[1]], words[0]) for words in stages]
    assert len(bases) > 1
    assert all(base in names or is_pinned(base) for base in bases)


def test_the_browser_of_the_image_runs_as_its_user_and_may_have_its_sandbox() -> None:
    """As another user than root, and allowed to make what its sandbox consists of."""
    crawler = load(DEPLOY / "render.yaml")["services"]["crawler"]
    assert crawler["build"]["args"] == {"RENDER": "yes"}
    assert "AS render-yes" in DOCKERFILE
    assert "user" not in crawler  # that of compose.yaml
    (option,) = crawler["security_opt"]
    profile = json.loads((DEPLOY / option.removeprefix("seccomp=")).read_text())
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    (rule,) = profile["syscalls"]
    assert rule["action"] == "SCMP_ACT_ERRNO"
    assert {"clone", "clone3", "unshare", "chroot", "seccomp", "capset"}.isdisjoint(rule["names"])
    assert {"mount", "ptrace", "bpf", "setns", "kexec_load", "init_module"} <= set(rule["names"])


def test_the_image_runs_the_service_without_rights_and_builds_nothing() -> None:
    by_name = dict(LAST_STAGE)
    uid, gid = by_name["USER"].split(":")
    assert int(uid) > 0
    assert int(gid) > 0
    assert json.loads(by_name["CMD"]) == ["python", "-m", "crawlproject.service"]
    assert {"HEALTHCHECK", "STOPSIGNAL", "VOLUME", "WORKDIR"} <= by_name.keys()
    assert "PYTHONUNBUFFERED=1" in by_name["ENV"]
    assert by_name["EXPOSE"] in by_name["ENV"].partition("SCRAPYD_HTTP_PORT=")[2]
    commands = " ".join(rest for name, rest in LAST_STAGE if name == "RUN")
    assert not re.search(r"\b(apt-get|pip|gcc|curl|wget)\b", commands)


def test_what_the_image_is_built_from_is_there_and_not_ignored() -> None:
    rules = (PROJECT / ".dockerignore").read_text().split("\n")
    assert "*" in rules  # nothing goes in that is not named
    named = [rule[1:] for rule in rules if rule.startswith("!")]
    for name, rest in INSTRUCTIONS:
        if name != "COPY" or "--from=" in rest or "<<" in rest:
            continue
        *sources, _ = (word for word in rest.split() if not word.startswith("--"))
        for source in sources:
            assert (PROJECT / source).exists()
            assert source == "." or any(fnmatch(source, rule) for rule in named)
    # What pyproject.toml reads.
    for needed in ("pyproject.toml", "README.md", "requirements-render.txt", "crawlproject"):
        assert any(fnmatch(needed, rule) for rule in named)


@contextmanager
def listening(login: str) -> Iterator[str]:
    """A service that is well, for who has the login; its port."""
    expected = "Basic " + base64.b64encode(login.encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_right = self.headers["Authorization"] == expected
            self.send_response(200 if is_right and self.path == "/daemonstatus.json" else 401)
            self.end_headers()
            self.wfile.write(b'{"status": "ok"}')

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield str(server.server_port)
        server.shutdown()
        thread.join()


def test_the_health_check_asks_with_the_password() -> None:
    match = re.search(r"<<'CHECK' (\S+)\n(.*?)^CHECK$", DOCKERFILE, re.DOTALL | re.MULTILINE)
    assert match
    place, script = match.groups()
    assert json.loads(dict(LAST_STAGE)["HEALTHCHECK"].partition("CMD ")[2]) == ["python", place]

    def healthy(port: str, **variables: str) -> bool:
        environment = {"SCRAPYD_HTTP_PORT": port, "http_proxy": "http://127.0.0.1:9", **variables}
        command = [sys.executable, "-c", script]
        return subprocess.run(command, env=environment, capture_output=True).returncode == 0

    with listening("crawler:pass:word") as port:
        assert healthy(port, SCRAPYD_USERNAME="crawler", SCRAPYD_PASSWORD="pass:word")
        assert not healthy(port, SCRAPYD_USERNAME="crawler", SCRAPYD_PASSWORD="word")
        assert not healthy(port)
    assert not healthy(port, SCRAPYD_USERNAME="crawler", SCRAPYD_PASSWORD="pass:word")


# Compose


def test_docker_compose_accepts_the_file_with_passwords_and_not_without() -> None:
    docker = shutil.which("docker") or "docker"
    try:
        subprocess.run([docker, "compose", "version"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no docker compose: install docker and its compose plugin")
    passwords = dict.fromkeys(required_variables(), "secret")
    command = (docker, "compose", "-f", "compose.yaml", "config", "-q")
    run(*command, cwd=DEPLOY, **passwords)
    run(*command[:4], "-f", "render.yaml", *command[4:], cwd=DEPLOY, **passwords)
    for name in passwords:
        with pytest.raises(AssertionError, match=f"required variable {name} is missing a value"):
            run(*command, cwd=DEPLOY, **{**passwords, name: ""})


def required_variables() -> set[str]:
    """The variables of compose.yaml, all of which must be set, or it says what to set."""
    uses = re.findall(r"(?<!\$)\$\{(\w+)([^}]*)\}", (DEPLOY / "compose.yaml").read_text())
    assert all(rest.startswith(":?") and len(rest) > 10 for _, rest in uses)
    return {name for name, _ in uses}


def test_passwords_come_from_the_environment() -> None:
    assert required_variables() == {"SCRAPYD_PASSWORD", "REDIS_PASSWORD", "GRAFANA_PASSWORD"}
    assert COMPOSE["secrets"] == {"scrapyd_password": {"environment": "SCRAPYD_PASSWORD"}}


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_has_no_more_rights_than_it_needs(name: str) -> None:
    service = SERVICES[name]
    assert "build" in service or is_pinned(service["image"])
    assert int(service["user"].split(":")[0]) > 0
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    # Compose can't put a secret of the environment into a container that is read-only.
    assert service.get("read_only", False) != ("secrets" in service)
    assert service["deploy"]["resources"]["limits"].keys() == {"cpus", "memory", "pids"}
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    assert "healthcheck" in service or "build" in service
    for need in service.get("depends_on", {}).values():
        assert need["condition"] == "service_healthy"
    for mount in service["volumes"]:
        source = mount.split(":")[0]
        is_file = source.startswith(".")
        assert (DEPLOY / source).exists() if is_file else source in COMPOSE["volumes"]
        assert not is_file or mount.endswith(":ro")


def test_redis_keeps_a_crawl_and_is_reached_by_crawls_only() -> None:
    redis = SERVICES["redis"]
    assert "ports" not in redis
    assert redis["networks"] == ["frontier"]
    assert COMPOSE["networks"]["frontier"] == {"internal": True}
    assert [name for name, one in SERVICES.items() if "frontier" in one["networks"]] == [
        "crawler",
        "redis",
    ]
    lines = redis["command"][-1].splitlines()
    for option in ("maxmemory-policy noeviction", "appendonly yes", "requirepass $$REDISCLI_AUTH"):
        assert option in lines
    assert any(line.startswith("maxmemory ") for line in lines)


def test_prometheus_gets_in() -> None:
    job = SCRAPES["crawlproject"]
    crawler = SERVICES["crawler"]
    assert job["basic_auth"]["username"] == crawler["environment"]["SCRAPYD_USERNAME"]
    (secret,) = SERVICES["prometheus"]["secrets"]
    assert job["basic_auth"]["password_file"] == f"/run/secrets/{secret['source']}"
    (target,) = job["static_configs"][0]["targets"]
    assert target == f"crawler:{dict(LAST_STAGE)['EXPOSE']}"
    assert set(crawler["networks"]) & set(SERVICES["prometheus"]["networks"])
