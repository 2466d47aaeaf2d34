"""Settings from environment variables: ``CRAWLPROJECT_HTTPAUTH_PASS=…`` is ``-s HTTPAUTH_PASS=…``.

For secrets: everybody on a machine can read a command line, but only its user the environment of a
process.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from typing import TYPE_CHECKING

from crawlproject.commands.checks import check_form
from crawlproject.errors import BadInput
from crawlproject.redaction import secrets_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

PREFIX = "CRAWLPROJECT_"
# What a cluster sets for a service that has our name.
_OF_KUBERNETES = re.compile(r"(?:SERVICE_(?:HOST|PORT)|PORT)(?:_\w+)?")


def use_environment(settings: BaseSettings) -> None:
    """Take over the settings in the environment; those of the command line come later, and win.
    Raises BadInput.
    """
    for variable, value in os.environ.items():
        if not variable.startswith(PREFIX):
            continue
        name = variable.removeprefix(PREFIX)
        if name not in settings and _OF_KUBERNETES.fullmatch(name):
            continue
        if name not in settings:
            raise BadInput(
                f"the environment has {variable}, and there is no setting {name}: unset it"
            )
        check_form(name, value)
        settings.set(name, value, priority="cmdline")


def warn_of_secrets(given: Sequence[str]) -> None:
    """Say which settings of the command line (``-s``) are secret, and where to put them."""
    for pair in given:
        name, _, value = pair.partition("=")
        name = name.strip()
        # What the service or a supervisor has started got its options by another way.
        is_public = any(pair in word for word in sys.orig_argv)
        if is_public and any(secrets_in({name: value})):
            logger.warning(
                "%s is on the command line, where every user of this machine can read it: set %s "
                "in the environment instead",
                name,
                PREFIX + name,
            )
