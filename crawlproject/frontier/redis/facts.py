"""What a Redis says of itself, and whether a crawl can live there.

``INFO`` tells all of it, ``HELLO`` some to a user who may not ask for ``INFO``. On a managed Redis
much is forbidden: what can't be known is None, and nobody complains about it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from redis.exceptions import ResponseError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis import Redis

LOWEST_VERSION = (6, 2)
CLUSTER, SENTINEL = "cluster", "sentinel"


class Facts(NamedTuple):
    version: str | None = None
    # How it runs: standalone, cluster, sentinel.
    mode: str | None = None
    is_replica: bool | None = None
    # Of a replica.
    master: str | None = None
    # Bytes; 0: no limit.
    maxmemory: int | None = None
    eviction: str | None = None
    # What it does for the time after a restart.
    has_aof: bool | None = None
    has_snapshots: bool | None = None

    def problem(self) -> str | None:
        """Why no crawl can live there."""
        numbers = _numbers(self.version or "")
        # One that has no number is somebody's own.
        if numbers and numbers < LOWEST_VERSION:
            lowest = ".".join(map(str, LOWEST_VERSION))
            return f"it is Redis {self.version}: a shared crawl needs {lowest} or newer"
        if self.mode == SENTINEL:
            return "it is a Sentinel, which keeps no data: give the address of the master"
        if self.is_replica:
            of = f" of {self.master}" if self.master else ""
            return f"it is a replica{of}: give the address of the master"
        if self.maxmemory and self.eviction not in (None, "noeviction"):
            return (
                f"its maxmemory-policy is {self.eviction}, which drops URLs when memory is short: "
                "set maxmemory-policy to noeviction"
            )
        return None

    def warnings(self) -> list[str]:
        """What will be a pity one day."""
        found = []
        if self.has_aof is False and self.has_snapshots is False:
            found.append(
                "it keeps nothing on disk: a restart of Redis loses the crawl; set appendonly yes"
            )
        if self.maxmemory == 0:
            found.append(
                "it has no maxmemory: when it has filled the machine's memory, the system ends it; "
                "set maxmemory, and workers wait when that is reached"
            )
        return found


def facts_of(client: Redis) -> Facts:
    """What one server says."""
    try:
        info: Mapping[str, Any] = client.info()
    except ResponseError:
        return _from_hello(client)
    master = f"{info.get('master_host')}:{info.get('master_port')}"
    role = info.get("role")
    return Facts(
        version=_text(info.get("redis_version")),
        mode=_text(info.get("redis_mode")),
        is_replica=None if role is None else role == "slave",
        master=master if "master_host" in info else None,
        maxmemory=info.get("maxmemory"),
        eviction=_text(info.get("maxmemory_policy")),
        has_aof=None if "aof_enabled" not in info else bool(info["aof_enabled"]),
        has_snapshots=_has_snapshots(client),
    )


def _has_snapshots(client: Redis) -> bool | None:
    with suppress(ResponseError):
        values = list(client.config_get("save").values())
        return bool(values[0]) if values else None
    return None


def _from_hello(client: Redis) -> Facts:
    try:
        answer = client.execute_command("HELLO")
    except ResponseError:
        return Facts()
    hello = {_text(name): value for name, value in zip(answer[::2], answer[1::2], strict=False)}
    role = _text(hello.get("role"))
    return Facts(
        version=_text(hello.get("version")),
        mode=_text(hello.get("mode")),
        is_replica=None if role is None else role in ("replica", "slave"),
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _text(value: object) -> str | None:
    if value is None:
        return None
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
