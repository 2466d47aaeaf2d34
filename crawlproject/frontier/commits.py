"""What an answer changes: a page, its links and its state, as one.

With a page budget the frontier is *ordered*: answers are committed in the order in which
one patient worker would have got them, whenever they come. Then which URLs exist, and
which of them are within the budget, does not depend on who answered first. The price is
that the links of a page wait for the slowest page before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlproject.frontier.answers import from_text, to_text
from crawlproject.frontier.base import ROBOTS, SPENDING, Candidate, State, is_of_link
from crawlproject.frontier.entries import AT_ONCE
from crawlproject.frontier.entry import Wait, Way
from crawlproject.frontier.redirects import loop_of
from crawlproject.frontier.visits import Visits
from crawlproject.moments import seconds_of
from crawlproject.records import PAGE, page_url
from crawlproject.records import to_text as text_of
from crawlproject.recrawl.visit import Change

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlproject.frontier.base import Lease
    from crawlproject.frontier.entries import Entries
    from crawlproject.frontier.entry import Entry
    from crawlproject.records import Record

_NO_LIMIT = 2**62
# Pages that a sitemap may say have changed, however few it names.
_BELIEVED = 20


class Commits(Visits):
    def __init__(
        self,
        store: Entries,
        *,
        capacity: int | None,
        max_redirects: int,
        judge: Callable[[str], str | None] | None,
        **options: Any,
    ) -> None:
        super().__init__(store, **options)
        self._judge = judge
        self._capacity = capacity or _NO_LIMIT
        self._max_redirects = max_redirects
        # Requests of links that wait and can't be serialised, by URL.
        self._unkept: dict[str, Any] = {}
        # Answers whose links wait: for room, or for their turn.
        answers = store.answers()
        self._waiting = len(answers)
        if self._budget is not None:
            for number, key in answers:
                # They have their places from before.
                self._budget.let_in(key)
                self._budget.answered(key[2], number)

    def _has_room(self) -> bool:
        # What waits for its level is not given out, so no room would come of it.
        return self._census.queued - self._levels.waiting < self._capacity

    def _is_its_turn(self, entry: Entry) -> bool:
        if self._budget is not None:
            if not self._budget.is_next(entry.id):
                return False
            self._budget.commit()
            return True
        return not self._waiting and self._has_room()

    def _put_aside(self, entry: Entry, lease: Lease) -> None:
        """Keep an answer, and the page at once: its links may wait long."""
        self._keep_records(entry, lease, None)
        for url, request in lease.requests.items():
            if request is not None and not isinstance(request, str):
                self._unkept[url] = request
        number = self._store.put_answer(entry, to_text(lease))
        self._waiting += 1
        if self._budget is not None:
            self._budget.answered(entry.id, number)

    def _commit_what_fits(self) -> None:
        while self._waiting:
            if self._budget is not None:
                number = self._budget.next_answer()
                if number is None:
                    return
                self._budget.commit()
            elif not self._has_room():
                return
            else:
                number = None
            self._commit_waiting(number)

    def _commit_waiting(self, number: int | None = None) -> None:
        """Commit an answer that waits: the first of them, unless it is said which."""
        self._waiting -= 1
        url, text = self._store.take_answer(number)
        entry = self._store.by_id(url)
        lease = from_text(text, entry)
        for candidate_url in self._unkept.keys() & lease.requests.keys():
            lease.requests[candidate_url] = self._unkept.pop(candidate_url)
        lease.found = [self._judged_again(candidate) for candidate in lease.found]
        self._commit_answer(entry, lease)

    def _judged_again(self, candidate: Candidate) -> Candidate:
        """By the scope of now: it may have changed while the answer waited."""
        if self._judge is None:
            return candidate
        reason = self._judge(candidate.url)
        if reason is None and is_of_link(candidate.reason):
            reason = candidate.reason
        return candidate._replace(reason=reason)

    def _commit_answer(self, entry: Entry, lease: Lease) -> None:
        request = self._requests.pop(entry.id, entry.request)
        entry.again = None
        links: list[int] = []
        if lease.before is not None and not lease.is_unchanged:
            self._renew_items(entry)
        if lease.is_unchanged:
            self._move(entry, State.DONE)
            if self._budget is not None and not entry.has_place(State.DONE):
                self._budget.give_back()
        elif lease.redirect is not None:
            self._leave_target(entry, lease)
            self._move(entry, State.DONE)
            self._commit_redirect(entry, lease.redirect, request)
            if lease.redirect_answer is not None and entry.state is State.DONE:
                # No page, because it has a target.
                self._store.keep_beside(entry, lease)
                self._store.add_page(entry, lease.redirect_answer, None, as_found=True)
        elif not self._unblock(entry):
            links = self._commit_page(entry, lease)
        self._note_visit(entry, lease, links)
        self._release_levels()
        self._fill_budget()

    def _commit_page(self, entry: Entry, lease: Lease) -> list[int]:
        """An answer that is no redirect: the links that it has."""
        before = lease.before
        change = None if lease.found_changed is None else lease.found_changed[0]
        # What robots.txt says is meant.
        is_denied = (lease.skip or "").partition(":")[0] == ROBOTS
        is_passing = change is Change.FAILED and not is_denied
        if before is not None and is_passing:
            # What is behind it is still there, for all that is known.
            links = before.links
        else:
            self._leave_target(entry, lease)
            # While it is open, nobody below it has been counted out.
            links = self._commit_links(entry, lease)
            links += self._commit_nested(entry, lease)
        self._keep_records(entry, lease, links, is_passing=is_passing)
        if lease.hints:
            self._keep_hints(entry, lease, links)
        if lease.skip is not None:
            self._skip(entry, lease.skip)
            is_spent = entry.reason in SPENDING and not entry.is_sitemap
            if self._budget is not None and not is_spent:
                self._budget.give_back()
        else:
            self._move(entry, State.FAILED if lease.failed else State.DONE)
            if self._budget is not None and entry.is_sitemap:
                self._budget.give_back()
        return links

    def _commit_nested(self, entry: Entry, lease: Lease) -> list[int]:
        """Sitemaps that a sitemap names: they are as near as it is, and not as what it names."""
        way = Way(entry.way.level + 1, 0, entry.url, entry.id)
        return [self._offer(Candidate(url), way).id << 1 for url in lease.nested]

    def _leave_target(self, entry: Entry, lease: Lease) -> None:
        """It does not redirect any more, or to somewhere else."""
        before = lease.before
        if before is None or before.target is None or before.target == lease.redirect:
            return
        loop = loop_of(entry, self._store)
        self._store.unredirect(entry)
        if loop and (head := min(loop)) is not entry and head.state is State.FAILED:
            # It redirects, and to somewhere.
            self._store.drop_page(head)
            self._store.drop_items(head)
            self._move(head, State.DONE)

    def _keep_hints(self, entry: Entry, lease: Lease, links: list[int]) -> None:
        """Keep what a sitemap says. What it says was changed since is due."""
        named = [] if lease.before is None else [link >> 1 for link in lease.before.links]
        known = self._store.logbook.hints_of(entry, named)
        hints = {
            link >> 1: text_of(hint)
            # Behind them are sitemaps.
            for link, url in zip(links, lease.links, strict=False)
            if (hint := lease.hints.get(url)) is not None
        }
        self._store.logbook.keep_hints(entry, hints, named)
        changed = [number for number, text in hints.items() if known.get(number, text) != text]
        if lease.visit is None or len(changed) > max(_BELIEVED, len(known) // 2):
            # One that says so of nearly all pages writes the time of day.
            return
        due = [
            page for number in changed if self._is_due_by(page := self._store.by_id(number), lease)
        ]
        self._visit_soon(due)

    def _is_due_by(self, page: Entry, lease: Lease) -> bool:
        """Whether a page is due because a sitemap says that it has changed since its last visit."""
        history = self._store.logbook.history_of(page)
        changed_at = seconds_of(str(lease.hints[page.url].get("lastmod") or ""))
        if history is None or lease.visit is None or changed_at is None:
            return False
        if changed_at <= history.visited_at:
            return False
        due = history._replace(next_at=min(history.next_at, lease.visit.at))
        self._store.logbook.keep_history(page, due)
        return history.next_at > lease.visit.at

    def _visit_soon(self, pages: list[Entry]) -> None:
        """They have become due: in a round of visits, for this one."""

    def _commit_links(self, entry: Entry, lease: Lease) -> list[int]:
        """The links of a page, as the store keeps them."""
        way = entry.way
        links = self._offer_links(entry, lease)
        while entry.way != way:
            # One of them was one redirect too many, and is none any more: it leads back here by
            # a shorter way, so what this page links to is nearer, too.
            way = entry.way
            links = self._offer_links(entry, lease)
        return links

    def _offer_links(self, entry: Entry, lease: Lease) -> list[int]:
        urls, reasons, requests = lease.links, lease.reasons, lease.requests
        store = self._store
        step = entry.way.step(entry)
        links: list[int] = []
        for start in range(0, len(urls), AT_ONCE):
            some = urls[start : start + AT_ONCE]
            children = store.expect(some)
            generation = store.generation
            is_current = True
            for url, child in zip(some, children, strict=True):
                if child is None or not is_current:
                    # What was new may have been met meanwhile, as when it is linked to twice.
                    child = store.cached(url) if is_current else store.get(url)
                    if child is None:
                        candidate = Candidate(url, reasons.get(url), requests.get(url))
                        child = self._meet(candidate, step)
                        store.flush_if_large()
                        is_current = store.generation == generation
                        links.append(child.id << 1)
                        continue
                # Most links of a page lead where others have led before, and change nothing.
                if step < child.way or child.reason is not None or child.fewest_hops:
                    self._offer_again(child, Candidate(url, reasons.get(url)), step)
                    is_current = store.generation == generation
                links.append(child.id << 1)
        closed = {url for url, reason in reasons.items() if is_of_link(reason)}
        if closed:
            links = [link | (url in closed) for link, url in zip(links, urls, strict=True)]
        return links

    def _keep_records(
        self, entry: Entry, lease: Lease, links: list[int] | None, *, is_passing: bool = False
    ) -> None:
        has_page = False
        for kind, record in lease.records:
            if kind == PAGE and record["url"] == entry.url and not has_page:
                has_page = True
                self._store.keep_beside(entry, lease)
                as_found = links is not None and record["links"] == lease.links and not is_passing
                self._store.add_page(entry, record, links, as_found=as_found)
            elif links is not None:
                self._store.add_item(entry, kind, page_url(kind, record), record)
        if entry.is_sitemap and links is not None:
            self._store.keep_beside(entry, lease)
        if not has_page and links:
            # No page is to be shown, but its links lead on.
            self._store.add_links(entry, links)

    def _keep_item(self, kind: str, record: Record, url: str | None) -> None:
        """Keep an item apart from the answer of its URL."""
        entry = None if url is None else self._store.get(url)
        if entry is not None and entry.again is not None:
            self._renew_items(entry)
        self._store.add_item(entry, kind, page_url(kind, record), record)

    def _renew_items(self, entry: Entry) -> None:
        """Drop the items of the last visit, once: a visit may bring some before it ends."""
        if not entry.is_renewed:
            entry.is_renewed = True
            self._store.change(entry)
            self._store.drop_items(entry)

    def _commit_redirect(self, entry: Entry, target_url: str, request: Any) -> None:
        """``request`` is the spider's own request for the source, if it has made one."""
        if entry.fewest_hops >= self._max_redirects:
            target = entry
            entry.blocked = target_url
            self._report(entry, "too many redirects")
        else:
            # The target keeps callback, errback and meta of its source, not method and body.
            # Credentials for the source are removed when the request is made.
            inherited = request if entry.url.startswith("http") else None
            target = self._offer(Candidate(target_url, None, inherited), entry.way.hop())
            self._store.redirect(entry, target)
            self._spare_hops(target, entry.fewest_hops + 1)
            loop = loop_of(entry, self._store)
            # Who is visited again may lead elsewhere by now, and is asked here when it answers.
            if loop and all(member.again is None for member in loop):
                target = min(loop)
                self._report(target, "redirect loop")
        if self._budget is not None:
            self._budget.give_back()
            is_free = target.state is State.QUEUED and target.waits is not Wait.LEVEL
            if is_free and not self._budget.has(target.id):
                # The target takes the turn of its source.
                target.rank = entry.rank
                self._stop_waiting(target)
                self._budget.let_in(target.key)
                self._queue_at_host(target)

    def _report(self, entry: Entry, verdict: str) -> None:
        """Give a URL out again, to say that no page will come of it."""
        # What it answered is no page either.
        self._store.drop_page(entry)
        self._store.drop_items(entry)
        entry.verdict = verdict
        self._move(entry, State.QUEUED)
        self._queue(entry)

    def _has_turn(self, entry: Entry) -> bool:
        if self._budget is not None:
            # Whether it is given out already depends on who answers first; its turn does not.
            return self._budget.has(entry.id)
        return super()._has_turn(entry)

    def _unblock(self, entry: Entry) -> bool:
        """Follow what was one redirect too many, if a way with fewer of them has been found."""
        if entry.blocked is None or entry.fewest_hops >= self._max_redirects:
            return False
        target, entry.blocked, entry.verdict = entry.blocked, None, None
        # What came of the report that it was one redirect too many.
        self._store.drop_items(entry)
        self._move(entry, State.DONE)
        self._commit_redirect(entry, target, entry.request)
        return True
