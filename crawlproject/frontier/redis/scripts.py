"""Our Lua scripts: what several workers decide at once, Redis decides, one script after another.

They are in ``lua/``; a comment at the top of each says its keys, its arguments, its answer. All
keys of a call have one hash tag, so that they are on one node of a cluster.
"""

from __future__ import annotations

from hashlib import sha1
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from redis.exceptions import NoScriptError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis import Redis

_FOLDER = "lua"


class Scripts:
    """By the name of the file: ``scripts.run("exchange", keys, arguments)``."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._texts: dict[str, tuple[str, str]] = {}

    def run(
        self, name: str, keys: Sequence[str | bytes], arguments: Sequence[str | bytes | float] = ()
    ) -> Any:
        """What the script answers; only it knows what that is."""
        digest, text = self._text(name)
        try:
            return self._client.evalsha(digest, len(keys), *keys, *arguments)
        except NoScriptError:
            # A new Redis, or one that has started again. With the text, it keeps the script: where
            # the keys are, which on a cluster is the only place that matters.
            return self._client.eval(text, len(keys), *keys, *arguments)

    def _text(self, name: str) -> tuple[str, str]:
        if name not in self._texts:
            text = files(__package__).joinpath(_FOLDER, f"{name}.lua").read_text(encoding="utf-8")
            # Redis names it so.
            digest = sha1(text.encode(), usedforsecurity=False).hexdigest()
            self._texts[name] = (digest, text)
        return self._texts[name]
