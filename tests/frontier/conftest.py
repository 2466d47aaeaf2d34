"""Fixtures of the frontier."""

from tests.frontier.engines import engine

__all__ = ["engine"]
