"""Services for tests. Nothing here may import the reactor: pytest-twisted installs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.service.serving import Service

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One for all tests that leave it as they find it, but for jobs."""
    with Service(tmp_path_factory.mktemp("service")) as one:
        yield one
