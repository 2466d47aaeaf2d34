"""What follows when links have gone: other ways to URLs (``settling.py``), and some are out."""

from __future__ import annotations

from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from crawlproject.frontier.base import DEPTH, SPENDING, UNLINKED, State
from crawlproject.frontier.entry import Wait, Way
from crawlproject.frontier.notes import LOSING, ROUND, UNSETTLED
from crawlproject.frontier.revisits import Revisits
from crawlproject.frontier.rounds import ALL, round_in
from crawlproject.frontier.settling import NOWHERE, Graph, Ways, shortest_ways
from crawlproject.records import from_text, to_text
from crawlproject.recrawl.visit import Change

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlproject.frontier.entry import Entry

# What is told of a page that is out.
_TOLD = ("status_code", "title")
# Pages that are kept although nothing leads to them, at most.
_MOST_KEPT = 10_000


class Settled(Revisits):
    def _settle_if_idle(self, now: float) -> None:
        self._settle(now)

    def _settle(self, now: float) -> int:
        """Find the ways to all URLs anew, if links have gone: how many are out now."""
        if not self._is_unsettled or self._waiting:
            # What an answer that waits links to is not known yet.
            return 0
        graph, known, is_unlinked = self._whole()
        edges = self._store.edges()
        ways = shortest_ways(graph, edges, self._depth_limit)
        is_reached = ways.levels < NOWHERE
        moved = np.flatnonzero((np.stack(known) != np.stack(ways)).any(axis=0) & is_reached)
        for number in moved.tolist():
            level, hops, referrer, fewest_hops = (int(column[number]) for column in ways)
            url = self._store.by_id(referrer).url if referrer else ""
            entry = self._store.by_id(number)
            self._take_other_way(entry, Way(level, hops, url, referrer))
            entry.fewest_hops = fewest_hops
            if entry.blocked is not None and not entry.is_open:
                self._unblock(entry)
            self._store.flush_if_large()
        out = 0
        lost = np.flatnonzero((graph.order > 0) & ~is_reached & ~is_unlinked).tolist()
        links_on = np.zeros_like(is_reached)
        links_on[edges.pages[np.diff(edges.starts) > 0]] = True
        kept = self._kept(lost, links_on & is_reached, now)
        for number in lost:
            if number not in kept:
                out += self._unlink(self._store.by_id(number), UNLINKED, now)
                self._store.flush_if_large()
        self._is_unsettled = False
        self._store.remember(UNSETTLED, "")
        self._release_levels()
        self._fill_budget()
        return out

    def _kept(self, lost: list[int], links_on: NDArray[np.bool_], now: float) -> set[int]:
        """Of pages that nothing leads to, those that others may link to today, which were not
        visited since: as when an entry moves on to the next page of a list. They stay until all
        that ``links_on`` were visited.
        """
        known, last = self._losing(), round_in(self._store.recall(ROUND))
        begun_at = last.began_at if last.is_open else now
        losing: dict[int, float] = {}
        is_left = bool(self._census.queued or self._census.later)
        # When all were visited, nobody has to be waited for.
        is_whole = last.is_open and last.mode == ALL and not is_left
        if lost and self._recrawl is not None and not is_whole:
            linking = set(np.flatnonzero(links_on).tolist())
            visits = self._store.logbook.visit_times()
            oldest = min((at for number, at in visits if number in linking), default=inf)
            patience = 2 * self._recrawl.intervals.most
            for number in lost[:_MOST_KEPT]:
                since = known.get(number, begun_at)
                is_had = State.DONE in ((entry := self._store.by_id(number)).state, entry.again)
                if is_had and oldest < since and now - since < patience:
                    losing[number] = since
        if losing or known:
            said = {str(number): since for number, since in losing.items()}
            self._store.remember(LOSING, to_text(said) if said else "")
        return set(losing)

    def _losing(self) -> dict[int, float]:
        with suppress(ValueError, TypeError, AttributeError):
            said = from_text(self._store.recall(LOSING) or "{}")
            return {int(number): float(since) for number, since in said.items()}
        return {}

    def _whole(self) -> tuple[Graph, Ways, NDArray[np.bool_]]:
        """All that is known of the ways to URLs, and which of them nobody links to."""
        count = self._store.last_id + 1
        roots = np.full(count, NOWHERE, np.int64)
        order, targets = np.zeros(count, np.int64), np.zeros(count, np.int64)
        leads_on, is_outside = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        is_sitemap, is_unlinked = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        known = Ways(*(np.zeros(count, np.int64) for _ in Ways._fields))
        for place, node in enumerate(self._store.nodes(), start=1):
            number = node.id
            order[number] = place
            targets[number] = node.target
            leads_on[number] = node.reason is None or node.reason in SPENDING
            is_outside[number] = node.reason is not None and node.reason != DEPTH
            is_sitemap[number] = node.is_sitemap
            is_unlinked[number] = node.reason == UNLINKED
            # Seeds, sitemaps and requests of a spider's own.
            if not (node.referrer or node.hops):
                roots[number] = node.level
            for column, value in zip(known, node[2:6], strict=True):
                column[number] = value
        graph = Graph(roots, order, targets, leads_on, is_outside, is_sitemap)
        return graph, known, is_unlinked

    def _take_other_way(self, entry: Entry, way: Way) -> None:
        """Take a way that may be longer than the one that is known."""
        level = entry.way.level
        self._census.take_way(entry, way)
        self._store.change(entry)
        if self._is_too_deep(way):
            if entry.reason is None:
                self._unlink(entry, self._too_deep, None)
        elif entry.reason == DEPTH:
            self._enter(entry)
        elif entry.state is State.QUEUED and entry.again is None and way.level != level:
            if entry.waits is Wait.LEVEL:
                self._levels.move(entry, level)
            else:
                self._queue(entry)

    def _unlink(self, entry: Entry, reason: str, now: float | None) -> bool:
        """No way leads to a URL any more: whether it had a page."""
        record = self._store.record_of(entry)
        if entry.is_open:
            if entry.again is not None:
                self._leave_line(entry)
                entry.again = None
            self._take_back(entry)
        elif entry.state in (State.DONE, State.FAILED):
            self._levels.give_back(entry)
            if self._budget is not None and entry.has_place(entry.state):
                self._budget.give_back()
        self._store.drop_page(entry)
        self._store.drop_items(entry)
        self._store.unredirect(entry)
        entry.start_over()
        self._skip(entry, reason)
        if record is not None and now is not None:
            told = {name: [record[name], None] for name in _TOLD if record.get(name)}
            self._store.logbook.keep_change(entry, now, Change.UNLINKED, told)
        return record is not None
