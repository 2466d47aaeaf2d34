"""Tests with values by chance: the same ones at every run, or many others.

./scripts/test tests/frontier/test_order.py --hypothesis-profile=deep
"""

from __future__ import annotations

from hypothesis import settings

_SAME, _DEEP = "same", "deep"

settings.register_profile(_SAME, deadline=None, derandomize=True)
settings.register_profile(_DEEP, deadline=None, max_examples=10_000)
settings.load_profile(_SAME)


def times(factor: float) -> settings:
    """So many times as many values as other tests have."""
    usual = settings()
    return settings(usual, max_examples=round(factor * usual.max_examples))
