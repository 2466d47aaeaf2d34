"""Fixtures for all rooms. Nothing here may import the reactor: pytest-twisted installs it."""

import gc
import os
import signal
from collections.abc import Generator

import pytest

from crawlproject.redaction import SECRETS
from tests import chance
from tests.names import names, public
from tests.redis_server import (
    redis_cluster,
    redis_server,
    redis_url,
    session_cluster,
    session_redis,
)
from tests.site.fixture import site
from tests.switching import fastpath

__all__ = [
    "chance",
    "fastpath",
    "names",
    "public",
    "redis_cluster",
    "redis_server",
    "redis_url",
    "session_cluster",
    "session_redis",
    "site",
]

# A shell without job control starts background jobs with SIGINT ignored; children inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Programs write as users see them write: into a buffer, unless it is a terminal.
os.environ.pop("PYTHONUNBUFFERED", None)
# All sites of tests are on this machine: not each crawl is to read whom the world trusts.
os.environ["SSL_CERT_FILE"] = os.devnull


@pytest.fixture(autouse=True)
def forget_secrets() -> None:
    """The password of one test's crawl is a word in another's."""
    SECRETS.forget()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """All that the tests import is there to stay. To look through it for garbage, again and again,
    would take a tenth of their time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
