"""The client of a shared crawl, on scrapy-redis' connection, and whether its Redis will do.

client = connect(settings)
for warning in check(client):
    logger.warning(warning)

It takes and gives bytes, and it belongs to any thread. It sends nothing twice by itself: a script
whose answer is lost may have run, so whoever asked has to decide. A Redis Cluster gets a client
with the same commands, which are sent to where the key is.
"""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast
from warnings import catch_warnings, filterwarnings

from redis import Redis
from redis.backoff import NoBackoff
from redis.cluster import RedisCluster
from redis.connection import SSLConnection, UnixDomainSocketConnection
from redis.exceptions import RedisClusterException, RedisError, ResponseError
from redis.retry import Retry
from scrapy_redis.connection import get_redis_from_settings

from crawlproject.errors import BadArgument, BadRedis
from crawlproject.frontier.redis.address import checked_settings, shown
from crawlproject.frontier.redis.facts import CLUSTER, facts_of
from crawlproject.frontier.redis.scripts import Scripts
from crawlproject.frontier.redis.trouble import hint, trouble_of

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

# What redis-py and load_object raise for values that are no good.
_BAD_VALUES = (TypeError, ValueError, AttributeError, OverflowError, ImportError, NameError)
_FILES = ("ssl_ca_certs", "ssl_ca_path", "ssl_certfile", "ssl_keyfile")


def connect(settings: BaseSettings) -> Redis:
    """Raises BadArgument for settings that are wrong, BadRedis if it can't be reached."""
    wanted = checked_settings(settings)
    client = _client(wanted)
    try:
        is_cluster = not isinstance(client, RedisCluster) and facts_of(client).mode == CLUSTER
        if is_cluster:
            # The cluster's client would not say why it can't.
            client.execute_command("CLUSTER SLOTS")
    except (RedisError, *_BAD_VALUES) as error:
        client.close()
        _refuse(client, error)
    if not is_cluster:
        return client
    client.close()
    if client.connection_pool.connection_kwargs.get("db"):
        raise BadRedis(f"{address_of(client)}: it is a cluster, which has the database 0 only")
    if issubclass(client.connection_pool.connection_class, UnixDomainSocketConnection):
        raise BadRedis(f"{address_of(client)}: it is a cluster, which is not found by a socket")
    wanted.set("REDIS_PARAMS", {**wanted["REDIS_PARAMS"], "redis_cls": RedisCluster})
    return _client(wanted)


def address_of(client: Redis) -> str:
    """For a line to be read: no password."""
    if isinstance(client, RedisCluster):
        node = client.get_default_node() or client.startup_nodes[0]
        kwargs = {**client.get_connection_kwargs(), "host": node.host, "port": node.port}
        is_encrypted = bool(kwargs.get("ssl")) or kwargs.get("connection_class") is SSLConnection
    else:
        kwargs = client.connection_pool.connection_kwargs
        connection_class = client.connection_pool.connection_class
        is_encrypted = issubclass(connection_class, SSLConnection)
        if issubclass(connection_class, UnixDomainSocketConnection):
            return f"unix://{kwargs.get('path', '')}"
    scheme = "rediss" if is_encrypted else "redis"
    # Alone, it may be meant as the password.
    user = f"{kwargs['username']}@" if kwargs.get("username") and kwargs.get("password") else ""
    host = kwargs.get("host", "localhost")
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{user}{host}:{kwargs.get('port', 6379)}/{kwargs.get('db') or 0}"


def check(client: Redis) -> list[str]:
    """Raises BadRedis if no crawl can live there; what is a pity, if it can: one line each."""
    try:
        warnings = []
        for server in servers_of(client):
            facts = facts_of(server)
            if problem := facts.problem():
                raise BadRedis(f"{address_of(server)}: {problem}")
            warnings += [f"{address_of(server)}: {warning}" for warning in facts.warnings()]
        _try_all(client)
    except (RedisError, RedisClusterException) as error:
        _refuse(client, error)
    return warnings


def servers_of(client: Redis) -> list[Redis]:
    """A client for each server that keeps a part: one, or the masters of a cluster."""
    if not isinstance(client, RedisCluster):
        return [client]
    return [client.get_redis_connection(node) for node in client.get_primaries()]


def _client(settings: BaseSettings) -> Redis:
    params = {**settings["REDIS_PARAMS"], "retry": Retry(NoBackoff(), 0), "retry_on_timeout": False}
    settings.set("REDIS_PARAMS", params)
    try:
        with catch_warnings():
            # scrapy-redis always gives a parameter that redis-py does not like any more.
            filterwarnings("ignore", "Call to .*retry_on_timeout", DeprecationWarning)
            client = get_redis_from_settings(settings)
    except _BAD_VALUES as error:
        raise _bad_value(error) from None
    except (RedisError, RedisClusterException) as error:
        # Only the client of a cluster asks somebody already here.
        address = shown(settings.get("REDIS_URL") or settings.get("REDIS_HOST") or "localhost")
        raise BadRedis(f"{address}: {trouble_of(error) or error}") from None
    if not isinstance(client, Redis | RedisCluster):
        raise BadArgument("REDIS_PARAMS", "redis_cls must be redis.Redis or a class made from it")
    if isinstance(client, Redis):
        for name in _FILES:
            path = client.connection_pool.connection_kwargs.get(name)
            if path is not None and not Path(path).exists():
                raise BadArgument(name, f"there is no {path!r}")
    # A cluster's has all the commands that we use, with the same meaning.
    return cast("Redis", client)


def _refuse(client: Redis, error: Exception) -> NoReturn:
    if isinstance(error, RedisError | RedisClusterException):
        address = address_of(client)
        more = hint(error, is_encrypted=address.startswith("rediss:"))
        said = trouble_of(error) or str(error).partition(", with args")[0]
        raise BadRedis(f"{address}: {said}{more}") from None
    raise _bad_value(error) from None


def _bad_value(error: Exception) -> BadArgument:
    unknown = re.search(r"unexpected keyword argument ('\w+')", str(error))
    problem = f"there is no option {unknown[1]}" if unknown else f"can't be used: {error}"
    return BadArgument("REDIS_URL or REDIS_PARAMS", problem)


def _try_all(client: Redis) -> None:
    # Nobody else has these keys, however many workers start at once.
    prefix = f"crawl:{{check-{secrets.token_hex(8)}}}"
    kinds = ("string", "hash", "list", "set", "sorted")
    problems = Scripts(client).run("check", (), [f"{prefix}:{kind}" for kind in kinds])
    if not problems:
        return
    texts = [problem.decode(errors="replace") for problem in problems]
    said = texts[0].partition(": ")[2]
    trouble = trouble_of(ResponseError(said.removeprefix("-"))) or said
    # The same for all of them, but for a user who may do one thing, and not another.
    refused = ", ".join(text.partition(":")[0] for text in texts)
    of = f" (refused: {refused})" if "user" in trouble else ""
    raise BadRedis(f"{address_of(client)}: {trouble}{of}")
