"""A crawl directory that can't be written ends the crawl, not the process."""

from __future__ import annotations

import logging
import sqlite3
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E")


class CanFail(Protocol):
    # Why nothing more can be kept: the disk is full, the file is damaged.
    failure: str | None

    def fail(self, problem: str) -> None: ...


S = TypeVar("S", bound=CanFail)


def guarded(
    otherwise: E,
) -> Callable[[Callable[Concatenate[S, P], R]], Callable[Concatenate[S, P], R | E]]:
    """For methods that write: after the first failure they do nothing, and say ``otherwise``."""

    def decorate(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R | E]:
        @wraps(method)
        def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R | E:
            if self.failure is not None:
                return otherwise
            try:
                return method(self, *args, **kwargs)
            except (sqlite3.Error, UnicodeError) as error:
                self.fail(str(error))
                return otherwise
            except Exception as error:
                # A mistake of ours. Half a change must not be committed, nor waited for.
                logger.debug("%s failed", method.__name__, exc_info=True)
                self.fail(f"{type(error).__name__}: {error}")
                return otherwise

        return call

    return decorate
