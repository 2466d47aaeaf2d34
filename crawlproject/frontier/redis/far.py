"""Questions about single URLs of a shared crawl, while others work on it.

What is asked for is copied then (``around.py``); what is counted, Redis counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.frontier.entry import Wait
from crawlproject.frontier.questions import Questions
from crawlproject.frontier.redis.wire import counts_from

if TYPE_CHECKING:
    import sqlite3

    from crawlproject.frontier.near import Near
    from crawlproject.frontier.overview import HostFacts
    from crawlproject.frontier.questions import Known
    from crawlproject.frontier.redis.around import Around
    from crawlproject.frontier.redis.scripts import Scripts


class FarQuestions(Questions):
    def __init__(self, database: sqlite3.Connection, around: Around, scripts: Scripts) -> None:
        super().__init__(database)
        self._around = around
        self._scripts = scripts
        self._asked: set[str] = set()
        around.copy_start()

    def _find(self, url: str) -> Known | None:
        if url not in self._asked:
            self._asked.add(url)
            self._around.copy_of(url)
        return super()._find(url)

    def near(self, url: str) -> list[Near]:
        self._around.copy_near(url)
        return super().near(url)

    def is_over(self) -> bool:
        census, inbox = self._scripts.ask_all([("HGET", "meta", "census"), ("LLEN", "inbox")])
        counts = counts_from(census or b"", 0)
        return not (inbox or counts.queued or counts.leased)

    def ahead(self, known: Known) -> int:
        if known.waits is Wait.LEVEL:
            return self._nearer(known.level)
        lane = "q" if known.again is None else "r"
        key = "beyond" if known.waits is Wait.BUDGET else f"{lane}:{self._host_name(known)}"
        return self._scripts.ask("ZRANK", key, known.id) or 0

    def _nearer(self, level: int) -> int:
        """How many are not done that are nearer to the seeds: all but those who wait as it does,
        or for a later level.
        """
        census, levels = self._scripts.ask_all([("HGET", "meta", "census"), ("HGETALL", "levels")])
        counts = counts_from(census or b"", 0)
        waiting = sum(
            int(count)
            for one, count in levels.items()
            if one.isdigit() and count.isdigit() and int(one) >= level
        )
        return max(0, counts.queued + counts.leased - waiting)

    def host(self, known: Known | None, name: str) -> HostFacts | None:
        facts = super().host(known, name)
        if facts is None:
            return None
        queued, again, hosts_of_due = self._scripts.ask_all(
            [
                ("ZCARD", f"q:{facts.name}"),
                ("ZCARD", f"r:{facts.name}"),
                ("HVALS", self._scripts.at(facts.name, "due_at")),
            ]
        )
        return facts._replace(
            queued=queued + again, retries=hosts_of_due.count(facts.name.encode())
        )

    def in_flight(self, known: Known) -> int:
        workers = self._scripts.ask("ZRANGE", "workers", 0, -1)
        host = self._host_name(known)
        hosts = self._scripts.ask_all(
            [("HVALS", self._scripts.at(host, f"l:{name.decode()}")) for name in workers]
        )
        return sum(some.count(host.encode()) for some in hosts)

    def _host_name(self, known: Known) -> str:
        row = self.database.execute("SELECT name FROM hosts WHERE id = ?", (known.host,)).fetchone()
        return "" if row is None else str(row[0])
