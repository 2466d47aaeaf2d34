"""The whole way, on scrapyd itself, over HTTP: an egg is deployed, a job of it is killed, goes on,
and is read.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest
import requests

from tests.crawling import PROJECT
from tests.service.serving import PASSWORD, USER, Service
from tests.waiting import PATIENCE, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

_PIPELINE = """
class Stamp:
    def process_item(self, item):
        item.extra["deployed"] = __file__.partition(".egg")[1]
        return item
"""


def project_of_a_team(folder: Path) -> Path:
    """Our project, with a pipeline more."""
    for name in ("scrapy.cfg", "pyproject.toml", "setup.py", "README.md"):
        shutil.copy(PROJECT / name, folder)
    for path in PROJECT.glob("requirements*.txt"):
        shutil.copy(path, folder)
    shutil.copytree(
        PROJECT / "crawlproject",
        folder / "crawlproject",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (folder / "crawlproject/pipelines/stamp.py").write_text(_PIPELINE)
    with (folder / "crawlproject/settings.py").open("a") as settings:
        settings.write('\nITEM_PIPELINES["crawlproject.pipelines.stamp.Stamp"] = 500\n')
    return folder


def deploy(folder: Path, service: Service) -> tuple[int, str]:
    """As a developer does, with scrapyd-deploy."""
    (folder / "scrapy.cfg").write_text(
        "[settings]\ndefault = crawlproject.settings\n\n"
        f"[deploy]\nurl = {service.url}/\nproject = crawlproject\n"
        f"username = {USER}\npassword = {PASSWORD}\n"
    )
    program = Path(sys.executable).with_name("scrapyd-deploy")
    result = subprocess.run(
        [str(program), "-v", "1.1"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return result.returncode, result.stdout + result.stderr


def chain(pages: int) -> dict[str, object]:
    """A site whose pages are found one after the other."""
    return {
        "pages": {
            f"/{number}" if number else "/": {
                "title": f"Page {number}",
                "links": [f"/{number + 1}", f"/{number + 2}"],
            }
            for number in range(pages)
        }
    }


@pytest.fixture
def protected(tmp_path: Path) -> Service:
    (tmp_path / "service").mkdir()
    return Service(tmp_path / "service", is_protected=True, program="scrapyd")


def test_an_egg_is_deployed_and_its_job_survives_a_kill(
    site: SiteFactory, tmp_path: Path, protected: Service
) -> None:
    server = site(chain(30))
    (tmp_path / "project").mkdir()
    folder = project_of_a_team(tmp_path / "project")
    with protected as service:
        status, said = deploy(folder, service)
        assert (status, '"status":"ok"' in said) == (0, True), said
        assert service.get("/listversions.json?project=crawlproject").json["versions"] == ["1_1"]
        order = {
            "project": "crawlproject",
            "spider": "site",
            "jobid": "nightly",
            "seed": server.url(),
            # All arguments are strings.
            "depth": "none",
            "max_pages": "1000",
            "respect_nofollow": "no",
            "delay": "0.02",
            "setting": "FRONTIER_COMMIT_PAGES=1",
        }
        assert service.form("/schedule.json", **order).json["jobid"] == "nightly"
        wait_for(lambda: len(server.paths()) >= 10)
        assert service.job("nightly")["status"] == "running"
        cancelled = service.form(
            "/cancel.json", project="crawlproject", job="nightly", signal="KILL"
        )
        assert cancelled.json["prevstate"] == "running"
        killed = service.until_ended("nightly")
        assert (killed["status"], killed["exit_status"], killed["sitemap"]) == ("killed", -9, None)

        # The same order goes on, under the same id.
        assert service.form("/schedule.json", **order).json["jobid"] == "nightly"
        service.until("nightly", "running")
        done = service.until_ended("nightly")
        assert (done["status"], done["runs"], done["exit_status"]) == ("finished", 2, 0)
        pages = done["sitemap"]["pages"]
        assert {page["url"] for page in pages} == {
            server.url(f"/{n}" if n else "/") for n in range(32)
        }
        # What ran is the egg, and not what is installed where the service runs.
        assert {page["deployed"] for page in pages} == {".egg"}
        # Nothing was lost, and what was fetched again was in flight when it was killed.
        paths = server.paths()
        assert set(paths) == {f"/{n}" if n else "/" for n in range(32)}
        assert len(paths) - len(set(paths)) <= 1
        output = service.get(f"/crawl/nightly/outputs/{done['outputs'][0]['name']}")
        assert json.loads(output.content) == done["sitemap"]


def test_a_version_that_cannot_be_run_is_not_kept(protected: Service) -> None:
    """The egg of a project is a folder of eggs: what is in them is found out by running it."""
    content = BytesIO()
    with ZipFile(content, "w") as egg:
        egg.writestr("EGG-INFO/PKG-INFO", "Name: team\n")
    before = protected.folder / "var" / "eggs" / "team" / "1.egg"
    before.parent.mkdir(parents=True)
    before.write_bytes(b"as it was")
    with protected as service:
        for version in ("1", "2"):
            reply = requests.post(
                f"{service.url}/addversion.json",
                data={"project": "team", "version": version},
                files={"egg": content.getvalue()},
                auth=(USER, PASSWORD),
                timeout=PATIENCE,
            )
            assert (reply.status_code, reply.json()["status"]) == (400, "error")
        assert service.get("/listversions.json?project=team").json["versions"] == ["1"]
    assert before.read_bytes() == b"as it was"
