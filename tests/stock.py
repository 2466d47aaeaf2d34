"""A Scrapy project of somebody else, which knows of ours by name only, run as its user does."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.crawling import PROJECT
from tests.forking import Forked
from tests.killing import kill

if TYPE_CHECKING:
    from pathlib import Path

SCHEDULER = "crawlproject.frontier.scheduler.FrontierScheduler"
ADDONS = {"crawlproject.Addon": 100}


@dataclass
class StockProject:
    folder: Path
    # The first line of its settings.
    preamble: str = ""

    def write(self, spider: str, **settings: object) -> None:
        """Its one spider, and settings beyond those that every project has."""
        lines = [f"{name} = {value!r}" for name, value in settings.items()]
        files = {
            "scrapy.cfg": "[settings]\ndefault = shop.settings\n",
            "shop/__init__.py": "",
            "shop/settings.py": "\n".join(
                (self.preamble, 'BOT_NAME = "shop"', 'SPIDER_MODULES = ["shop.spiders"]', *lines)
            ),
            "shop/spiders/__init__.py": "",
            "shop/spiders/shop.py": spider,
        }
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def start(self, *options: str, spider: str = "shop") -> subprocess.Popen[str]:
        return Forked(
            [sys.executable, "-m", "scrapy", "crawl", spider, *options],
            cwd=self.folder,
            # Not the tests' own environment: it names our settings.
            env={"PYTHONPATH": str(PROJECT), "PATH": "/usr/bin:/bin"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def crawl(self, *options: str, spider: str = "shop") -> str:
        """Its log, in which nothing went wrong."""
        log = ended(self.start(*options, spider=spider))
        assert not {"ERROR:", "CRITICAL:"} & set(log.split()), log
        assert "Traceback" not in log, log
        return log


def ended(process: subprocess.Popen[str], exit_code: int = 0) -> str:
    """The log of a crawl that comes to its end by itself."""
    try:
        _, log = process.communicate(timeout=60)
    except BaseException:
        kill(process)
        raise
    assert process.returncode == exit_code, log
    return log
