"""scrapyd's application, after a look at whether it may be started so."""

from __future__ import annotations

import sqlite3
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from scrapyd.app import application as scrapyd_application
from scrapyd.exceptions import ConfigError
from twisted.application.service import IServiceCollection
from twisted.web.server import Site

from crawlproject.errors import BadInput
from crawlproject.service.book import book_of
from crawlproject.service.options import listening_from, options_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapyd.config import Config
    from twisted.application.service import MultiService
    from twisted.web.http import Request

WEBROOT = "crawlproject.service.site.Root"


def application(config: Config) -> MultiService:
    """``application`` in ``scrapyd.conf``. Raises ConfigError, which scrapyd says in one line."""
    try:
        check(config)
    except BadInput as error:
        raise ConfigError(f"scrapyd: error: {error}") from None
    app: MultiService = scrapyd_application(config)
    services: Any = IServiceCollection(app, app)
    for service in services:
        for site in getattr(service, "args", ()):
            if isinstance(site, Site):
                site.log = partial(_log_changes, site.log)  # type: ignore[method-assign]
    return app


def _log_changes(log: Callable[[Request], None], request: Request) -> None:
    """Who changes something, and what goes wrong: a page that is open asks twice a second."""
    if request.method not in (b"GET", b"HEAD") or request.code >= HTTPStatus.BAD_REQUEST:
        log(request)


def check(config: Config) -> None:
    """Raise BadInput for what is not safe, or can't work."""
    listening_from(config, options_from(config))
    if not config.get("jobs_dir", ""):
        raise BadInput("scrapyd.conf: jobs_dir is empty: name a folder for crawl directories")
    if config.get("items_dir", ""):
        raise BadInput("scrapyd.conf: items_dir takes the place of all outputs: leave it empty")
    try:
        book_of(config)
    except (sqlite3.Error, ValueError, OSError) as error:
        raise BadInput(f"the book of jobs in dbs_dir can't be used: {error}") from None
