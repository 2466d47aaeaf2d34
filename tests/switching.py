"""The fixture ``fastpath``: a test that uses it runs with the fast path on and with it off."""

from __future__ import annotations

import pytest

from crawlproject.commands.environment import PREFIX
from tests.crawling import QUICK


@pytest.fixture(params=[True, False], ids=["fastpath", "no_fastpath"])
def fastpath(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether it is on. Crawls in this process and the project's commands follow it.

    A project of a test's own has to set FASTPATH_ENABLED to this value.
    """
    is_on: bool = request.param
    monkeypatch.setitem(QUICK, "FASTPATH_ENABLED", is_on)
    monkeypatch.setenv(f"{PREFIX}FASTPATH_ENABLED", str(is_on))
    return is_on
