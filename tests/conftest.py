"""Fixtures for all rooms. Nothing here may import the reactor: pytest-twisted installs it."""

from tests.site.fixture import site

__all__ = ["site"]
