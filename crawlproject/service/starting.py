"""Starting the service in this process: scrapyd's application, a log, and a word to the user."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapyd import get_application
from scrapyd.config import Config
from twisted.application.app import startApplication
from twisted.internet import reactor as twisted_reactor
from twisted.python import log

from crawlproject.errors import BadInput
from crawlproject.monitoring.listening import check_free
from crawlproject.monitoring.streams import tell
from crawlproject.private_files import create_private, make_private
from crawlproject.service.app import WEBROOT, check
from crawlproject.service.options import SECTION, listening_from, options_from

if TYPE_CHECKING:
    from crawlproject.service.options import Listening

_LOG = "service.log"


def configured(port: str | None, address: str | None) -> Config:
    """The options, as scrapyd finds them here. Raises BadInput."""
    for name, value in (("SCRAPYD_HTTP_PORT", port), ("SCRAPYD_BIND_ADDRESS", address)):
        if value is not None:
            os.environ[name] = value
    config = Config()
    if config.get("webroot", "") != WEBROOT:
        raise BadInput(
            "there is no scrapyd.conf of crawlproject in this folder: go to the project's, or "
            "copy its scrapyd.conf"
        )
    check(config)
    listening = listening_from(config, options_from(config))
    check_free("bind_address", "http_port", listening.address, listening.port)
    return config


def allow_internal(config: Config) -> None:
    if not config.cp.has_section(SECTION):
        config.cp.add_section(SECTION)
    config.cp.set(SECTION, "allow_internal", "yes")


def run(config: Config, demo: str | None = None) -> None:
    """Serve until a signal comes."""
    listening = listening_from(config, options_from(config))
    file = _log_file(config)
    if file:
        make_private(file.parent)
        create_private(file)
    with file.open("a", encoding="utf-8") if file else nullcontext(sys.stdout) as stream:
        log.startLogging(stream, setStdout=False)
        startApplication(get_application(config), False)
        _greet(listening, demo, file)
        # To the type checker it is a module.
        reactor: Any = twisted_reactor
        reactor.run()


def _log_file(config: Config) -> Path | None:
    """At a terminal the log is in a file; elsewhere whoever has started us collects it."""
    if not sys.stderr.isatty():
        return None
    # Not among the logs of jobs, which can be read over HTTP.
    return Path(config.get("dbs_dir", "dbs")).parent / _LOG


def _greet(listening: Listening, demo: str | None, file: Path | None) -> None:
    seed = demo or "https://example.com"
    user = "-u USERNAME:PASSWORD " if listening.is_protected else ""
    body = f'{{"url": "{seed}", "depth": 2}}'
    lines = [
        f"The crawl service is at {listening.url}/ : open it in a browser, or try",
        "",
        f"  curl {user}{listening.url}/crawl -H 'Content-Type: application/json' -d '{body}'",
        "",
    ]
    if demo:
        lines.append(f"The demo site is at {demo}; internal addresses may be crawled.")
    if not listening.is_protected:
        lines.append(
            "No password is set: it serves this machine only, and no code can be deployed "
            "(docs/operations.md)."
        )
    if file:
        lines.append(f"Its log is {file}.")
    lines.append("Ctrl-C ends it; jobs that run then go on the next time.")
    tell("\n".join(lines))
