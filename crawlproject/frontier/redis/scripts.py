"""Our Lua scripts in Redis: sent once, called by their hash."""

from __future__ import annotations

from functools import cache
from hashlib import sha1
from importlib import resources
from typing import TYPE_CHECKING, Any

from redis.exceptions import NoScriptError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis import Redis

Word = bytes | str | int | float


class Scripts:
    """The scripts for the crawl whose keys begin with ``prefix``. ``calls`` counts round trips."""

    def __init__(self, client: Redis, prefix: str) -> None:
        self.client = client
        self.prefix = prefix
        self.calls = 0

    def run(self, name: str, arguments: Sequence[Word]) -> Any:
        text, digest = _script(name)
        self.calls += 1
        try:
            return self.client.evalsha(digest, 1, self.prefix, *arguments)
        except NoScriptError:
            return self.client.eval(text, 1, self.prefix, *arguments)


@cache
def _script(name: str) -> tuple[str, str]:
    folder = resources.files("crawlproject.frontier.redis") / "lua"
    text = "\n".join(
        (folder / f"{part}.lua").read_text(encoding="utf-8") for part in ("common", name)
    )
    # What Redis calls it by: no secret.
    return text, sha1(text.encode(), usedforsecurity=False).hexdigest()
