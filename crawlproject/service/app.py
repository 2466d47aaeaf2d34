"""scrapyd's application, after a look at whether it may be started so."""

from __future__ import annotations

import os
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
from crawlproject.service.bounds import BoundedRequest, bound_by
from crawlproject.service.connections import bound_connections
from crawlproject.service.options import credentials_from, listening_from, options_from
from crawlproject.service.process import SECRETS

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapyd.config import Config
    from twisted.application.service import MultiService
    from twisted.web.http import Request

WEBROOT = "crawlproject.service.site.Root"


def application(config: Config) -> MultiService:
    """``application`` in ``scrapyd.conf``. Raises ConfigError, which scrapyd says in one line."""
    # All that is made from here on, by scrapyd and by jobs too, is for its owner only.
    os.umask(0o077)
    try:
        check(config)
    except BadInput as error:
        raise ConfigError(f"scrapyd: error: {error}") from None
    username, password = credentials_from(config)
    app: MultiService = scrapyd_application(config)
    services: Any = IServiceCollection(app, app)
    for service in services:
        for site in getattr(service, "args", ()):
            if isinstance(site, Site):
                _settle(site, username, password)
                bound_connections(site, options_from(config))
    # What is started from here on is not to know.
    for name in SECRETS:
        os.environ.pop(name, None)
    return app


def _settle(site: Any, username: str, password: str) -> None:
    """What scrapyd's site leaves to its factory."""
    site.log = partial(_log_changes, site.log)
    site.requestFactory = BoundedRequest
    site.bound = bound_by(username, password)


def _log_changes(log: Callable[[Request], None], request: Request) -> None:
    """Who changes something, and what goes wrong: a page that is open asks twice a second.

    Without the query, in which scrapyd takes settings, too.
    """
    request.uri = request.uri.partition(b"?")[0]
    if request.method not in (b"GET", b"HEAD") or request.code >= HTTPStatus.BAD_REQUEST:
        log(request)


def check(config: Config) -> None:
    """Raise BadInput for what is not safe, or can't work."""
    listening_from(config, options_from(config))
    if config.get("unix_socket_path", "") or os.environ.get("SCRAPYD_UNIX_SOCKET_PATH"):
        raise BadInput("unix_socket_path: is not for this service: it is called by bind_address")
    if not config.get("jobs_dir", ""):
        raise BadInput("scrapyd.conf: jobs_dir is empty: name a folder for crawl directories")
    if config.get("items_dir", ""):
        raise BadInput("scrapyd.conf: items_dir takes the place of all outputs: leave it empty")
    try:
        book_of(config)
    except BadInput:
        raise
    except (sqlite3.Error, ValueError, OSError) as error:
        raise BadInput(f"the book of jobs in dbs_dir can't be used: {error}") from None
