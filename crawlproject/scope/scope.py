"""Which URLs belong to the crawl, and the reason why one does not.

Pure: URLs in, reasons out. The reasons are the words of the skip ledger, so each names
what to change to let the URL in: ``WORD``, or ``WORD: RULE`` with the pattern or setting
that is to blame. The words here are those of scope; ``traps.py`` has the others.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from crawlproject.scope.domains import registered_domain
from crawlproject.scope.internal import is_address, is_internal, is_internal_address
from crawlproject.scope.traps import Traps
from crawlproject.urls.canonical import host_of
from crawlproject.urls.patterns import search_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from crawlproject.scope.traps import Budget

OFFSITE = "offsite"
EXCLUDED = "excluded"
NOT_INCLUDED = "not included"
INTERNAL = "internal address"
TOO_LONG = "url too long"


class Mode(StrEnum):
    """How far a seed reaches."""

    HOST = "host"
    DOMAIN = "domain"
    ANY = "any"


class Scope:
    """The hosts of the seeds, the hosts that were allowed, patterns on the URL, rules, and traps.

    A seed is always in scope, and has no budget.

    Internal addresses are in scope if all seeds are internal. If only some are, the hosts that
    those reach may lead inside, and no other: a public site can't use the crawl to look around
    in a private network. Without ``internal_seeds`` nothing internal is in scope. What a seed is,
    its URL says, or the first lookup of its name (``decide``); nothing changes it later.
    """

    def __init__(
        self,
        seeds: Iterable[str],
        *,
        mode: Mode = Mode.HOST,
        allow: Iterable[str] = (),
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        max_url_length: int = 0,
        internal_seeds: bool = True,
        rules: Iterable[Callable[[str], str | None]] = (),
        traps: Traps | None = None,
    ) -> None:
        self._mode = mode
        self._seeds = set(seeds)
        self._hosts: set[str] = set()
        self._domains = frozenset(domain.lower().strip(".") for domain in allow)
        self._include = [search_of(pattern, max_url_length) for pattern in include]
        self._exclude = [
            (search_of(pattern, max_url_length), f"{EXCLUDED}: {pattern}") for pattern in exclude
        ]
        self._max_url_length = max_url_length
        self._too_long = f"{TOO_LONG}: URLLENGTH_LIMIT={max_url_length}"
        # A team's own (``rules.py``).
        self._rules = list(rules)
        self._traps = traps or Traps()
        seed_hosts = {host_of(seed) for seed in self._seeds}
        self.seed_hosts = frozenset(seed_hosts)
        self._host_reason = lru_cache(maxsize=65_536)(self._judge_host)
        self._inside_hosts: set[str] = set()
        # Of names that were looked up.
        self._inside_names: set[str] = set()
        # What they are is not known before they are looked up; by what they reach.
        self._undecided: dict[str, set[str]] = {}
        for host in seed_hosts if internal_seeds else ():
            if is_internal(host):
                self._inside_hosts.add(host)
            elif not is_address(host):
                self._undecided.setdefault(self._reach(host), set()).add(host)
        self._inside = set(map(self._reach, self._inside_hosts))
        for host in seed_hosts:
            self.widen(host)

    def seeds_on(self, host: str) -> list[str]:
        return sorted(seed for seed in self._seeds if host_of(seed) == host)

    @property
    def is_decided(self) -> bool:
        """Whether it is known if all seeds are internal."""
        undecided = sum(map(len, self._undecided.values()))
        return not undecided or len(self._inside_hosts) + undecided < len(self.seed_hosts)

    def undecided(self, host: str | None = None) -> list[str]:
        """Names of seeds that are not known to be internal or public; those that reach a host."""
        if host is not None:
            return sorted(self._undecided.get(self._reach(host), ())) if self._undecided else []
        return sorted(name for names in self._undecided.values() for name in names)

    def decide(self, name: str, *, is_inside: bool) -> None:
        """Take the name of a seed for internal, or for public, from now on. The first word on a
        name counts.
        """
        reach = self._reach(name)
        if name not in self._undecided.get(reach, ()):
            return
        self._undecided[reach].remove(name)
        if not self._undecided[reach]:
            del self._undecided[reach]
        if is_inside:
            self._inside_names.add(name)
            self._inside_hosts.add(name)
            self._inside.add(reach)
            self._host_reason.cache_clear()

    def may_lead_inside(self, host: str) -> bool:
        """Whether requests for a host may go to internal addresses."""
        if not self._inside:
            return False
        if len(self._inside_hosts) == len(self.seed_hosts):
            return True
        if host in self.seed_hosts:
            return host in self._inside_hosts
        return self._reach(host) in self._inside

    def refuses_host(self, host: str) -> bool:
        """Whether a host is an internal address, or has an internal name, and may not be asked."""
        return is_internal(host) and not self.may_lead_inside(host)

    def refuses_address(self, host: str, address: str) -> bool:
        """Whether requests for a host may not go to an address. The name of an internal seed
        may lead nowhere else: one that answers with a public address once the inside is open
        would bring in a public site.
        """
        if is_internal_address(address):
            return not self.may_lead_inside(host)
        return host in self._inside_names

    def widen(self, host: str) -> bool:
        """Take a host in as if a seed were on it. Whether that changes anything."""
        reach = self._reach(host)
        if self._mode is Mode.ANY or reach in self._hosts:
            return False
        self._hosts.add(reach)
        self._host_reason.cache_clear()
        return True

    def add_seed(self, url: str) -> None:
        """Take in a seed that came later."""
        self._seeds.add(url)
        self.widen(host_of(url))

    def reason(self, url: str) -> str | None:
        """Why a canonical URL is not in scope; None when it is."""
        if url in self._seeds:
            return None
        if reason := self._host_reason(host_of(url)):
            return reason
        if self._max_url_length and len(url) > self._max_url_length:
            return self._too_long
        for excludes, reason in self._exclude:
            if excludes(url):
                return reason
        if self._include and not any(search(url) for search in self._include):
            return NOT_INCLUDED
        for judge in self._rules:
            if reason := judge(url):
                return reason
        return self._traps.reason(url)

    def reasons(self, urls: Iterable[str]) -> dict[str, str]:
        """Which canonical URLs are not in scope, and why."""
        judge = self.reason
        return {url: reason for url in urls if (reason := judge(url)) is not None}

    def reasons_on(self, page: str, links: Collection[str]) -> dict[str, str]:
        """Which links of a page are not in scope because of the page they are on, and why."""
        reasons = self._traps.reasons_on(page, links)
        return {url: reason for url, reason in reasons.items() if url not in self._seeds}

    def budgets(self, url: str) -> tuple[Budget, ...]:
        """The budgets of pages that a canonical URL in scope draws on."""
        return () if url in self._seeds else self._traps.budgets(url)

    def _judge_host(self, host: str) -> str | None:
        if not self.has_host(host):
            return OFFSITE
        return INTERNAL if self.refuses_host(host) else None

    def _reach(self, host: str) -> str:
        """What is as good as a host: itself, or its domain."""
        return registered_domain(host) if self._mode is Mode.DOMAIN else host

    def has_host(self, host: str) -> bool:
        """Whether the seeds, or what was allowed, reach as far as a host."""
        if self._mode is Mode.ANY:
            return True
        if self._reach(host) in self._hosts:
            return True
        return any(host == domain or host.endswith("." + domain) for domain in self._domains)
