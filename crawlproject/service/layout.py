"""Where a job has its files: all in one folder, its crawl directory.

| in ``jobs_dir/PROJECT/SPIDER/JOB/`` | is |
|---|---|
| ``crawl.db`` | what the crawl knows, and goes on from |
| ``bodies/`` | the bodies of its pages, if they are stored |
| ``snapshot.json`` | how it is now, or how it was when it ended (``monitoring/snapshot.py``) |
| ``seeds.txt`` | its seeds, if they are many |
| ``outputs/`` | ``sitemap.json``, and what else was ordered |

What is to be deleted is in ``jobs_dir/.removed/`` until it is. A job's log is in
``logs_dir/PROJECT/SPIDER/JOB.log``, where scrapyd has it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from scrapyd.utils import get_file_path

from crawlproject.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapyd.config import Config

SNAPSHOT = "snapshot.json"
SEEDS = "seeds.txt"
OUTPUTS = "outputs"
SITEMAP = "sitemap.json"
# The formats that may be ordered, and the names of their files.
FILES = {
    "json": SITEMAP,
    "html": "report.html",
    "jsonl": "pages.jsonl",
    "csv": "pages.csv",
    "xml": "sitemap.xml",
    "warc.gz": "pages.warc.gz",
    "parquet": "pages.parquet",
}

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}")


def check_name(name: str, value: str) -> None:
    """Raise BadArgument for what can't be the name of a folder: it would be one elsewhere."""
    if not _NAME.fullmatch(value):
        raise BadArgument(name, f"{value[:50]!r} is not letters, digits, - _ and . (100 at most)")


def crawl_directory(config: Config, project: str, spider: str, job: str) -> Path:
    return Path(get_file_path(config.get("jobs_dir"), project, spider, job).path)


def log_file(config: Config, project: str, spider: str, job: str) -> Path:
    return Path(get_file_path(config.get("logs_dir"), project, spider, f"{job}.log").path)


def removed_folder(config: Config) -> Path:
    return Path(config.get("jobs_dir")) / ".removed"


def feeds(folder: Path, formats: Iterable[str]) -> str:
    """The setting FEEDS for outputs in some formats."""
    # Scrapy fills in what stands behind a percent sign.
    outputs = str((folder / OUTPUTS).absolute()).replace("%", "%%")
    return json.dumps(
        {f"{outputs}/{FILES[one]}": {"format": one, "overwrite": True} for one in formats}
    )
