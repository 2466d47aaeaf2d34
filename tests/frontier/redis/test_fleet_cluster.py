"""One crawl on the nodes of a Redis Cluster: a host is on one of them, all together have all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as Lost

from crawlproject.frontier.redis.batch import Batch, Fenced, finish
from crawlproject.frontier.redis.scripts import Scripts
from tests.fleet import Fleet
from tests.redis_server import connected
from tests.spiders.test_same_answer import GOLDEN, SPEC, comparable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from crawlproject.frontier.redis.binary import Server
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


def test_workers_on_a_cluster_have_the_golden_answer_over_a_kill(
    site: SiteFactory, tmp_path: Path, redis_cluster: list[Server]
) -> None:
    server = site({**SPEC, "random_delay": [0, 0.02]})
    options = ("-a", f"seed={server.url()}")
    with Fleet(tmp_path, redis_cluster[1].url, *options) as fleet:
        first, _ = fleet.start(2)
        fleet.until(lambda: len(server.paths()) > 20)
        first.kill()
        fleet.start()
        assert fleet.finish() == [0, 0], fleet.errors()
    assert len(fleet.outputs()) == 1
    expected = (GOLDEN / "whole.json").read_text()
    assert comparable(fleet.workers[-1].output, server) == expected
    nodes = 0
    for node in redis_cluster:
        with connected(node) as client:
            nodes += bool(client.keys("crawl:{*"))
    # A host is on one of them, and so few URLs are on two.
    assert nodes >= 2


class Breaking(Scripts):
    """Loses its connection before one of its scripts."""

    breaks_at = 0

    def run(
        self, name: str, arguments: Sequence[Any], keys: Sequence[str] | None = None, **where: Any
    ) -> Any:
        self.breaks_at -= 1
        if self.breaks_at == 0:
            raise Lost("broken")
        return super().run(name, arguments, keys, **where)


@pytest.mark.parametrize("breaks_at", [1, 2, 3, 4, 5])
def test_a_commit_to_several_shards_is_done_wholly_or_not_at_all(
    redis_url: str, breaks_at: int
) -> None:
    scripts = Breaking(Redis.from_url(redis_url), "x", 3)
    scripts.ask("SET", "committer", "me 1")
    for shard in range(3):
        scripts.client.rpush(f"{scripts.prefixes[shard]}inbox", "done", "next")
    batch = Batch(3)
    for number in range(6):
        batch.call("SET", f"e:{number}", b"\0\xff")
    scripts.breaks_at = breaks_at
    # Prepare, two shards, and the first: the fifth is one that never comes.
    if breaks_at < 5:
        with pytest.raises(Lost):
            batch.run(scripts, "me 1", {0: 1, 1: 1, 2: 1}, 1)
    else:
        batch.run(scripts, "me 1", {0: 1, 1: 1, 2: 1}, 1)
    # The next committer does what is left, and the last one does nothing more.
    scripts.breaks_at = 0
    scripts.ask("SET", "committer", "you 2")
    finish(scripts, "you 2")
    with pytest.raises(Fenced):
        batch.run(scripts, "me 1", {0: 1, 1: 1, 2: 1}, 1)
    is_done = breaks_at > 1
    values = [scripts.ask("GET", f"e:{number}") for number in range(6)]
    assert values == [b"\0\xff" if is_done else None] * 6
    inboxes = scripts.ask_everywhere("LRANGE", "inbox", 0, -1)
    assert inboxes == [[b"next"] if is_done else [b"done", b"next"]] * 3
    assert scripts.ask("GET", "redo") is None
