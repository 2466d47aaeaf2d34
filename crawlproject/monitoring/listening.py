"""Whether somebody could listen at an address, found out before anything begins."""

from __future__ import annotations

import os
import socket
from contextlib import closing
from typing import TYPE_CHECKING

from crawlproject.errors import BadArgument
from crawlproject.spiders.values import port

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def check_metrics_port(settings: BaseSettings) -> None:
    """Raise BadArgument if nobody can listen where METRICS_PORT and METRICS_ADDRESS say."""
    number, address = metrics_port(settings), str(settings["METRICS_ADDRESS"])
    if number:
        check_free("METRICS_ADDRESS", "METRICS_PORT", address, number)


def check_free(address_name: str, port_name: str, address: str, number: int) -> None:
    """Raise BadArgument if nobody can listen there; the names are those of the settings."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with closing(socket.socket(family, socket.SOCK_STREAM)) as listener:
            # As Twisted does: who has just ended must not be in the way.
            if os.name == "posix":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, number))
            listener.listen(1)
    except socket.gaierror as error:
        raise BadArgument(
            address_name, f"{address!r} is no address such as 127.0.0.1: {error.strerror}"
        ) from None
    except (OSError, UnicodeError) as error:
        problem = getattr(error, "strerror", None) or error
        raise BadArgument(port_name, f"can't listen on {address}:{number}: {problem}") from None


def metrics_port(settings: BaseSettings) -> int:
    """0: nobody is to listen. Raises BadArgument."""
    return port("METRICS_PORT", settings["METRICS_PORT"])
