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
from crawlproject.scope.internal import is_internal
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

    A seed is always in scope, and has no budget. Internal addresses are, when a seed is one;
    without ``internal_seeds`` none is, whoever asks for it.
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
        self._internal_seeds = internal_seeds
        self.allows_internal = internal_seeds and any(is_internal(host) for host in seed_hosts)
        # Names that turned out to lead into a private network.
        self.refused_hosts: set[str] = set()
        self._host_reason = lru_cache(maxsize=65_536)(self._judge_host)
        for host in seed_hosts:
            self.widen(host)

    def may_follow_inside(self, name: str) -> bool:
        """Whether a name that leads into a private network may be followed there. A seed's may,
        and with it the crawl is one of that network.
        """
        if self._internal_seeds and name in self.seed_hosts:
            self.allows_internal = True
        if not self.allows_internal:
            self.refused_hosts.add(name)
        return self.allows_internal

    def widen(self, host: str) -> bool:
        """Take a host in as if a seed were on it. Whether that changes anything."""
        reach = registered_domain(host) if self._mode is Mode.DOMAIN else host
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
        if not self.allows_internal and is_internal(host):
            return INTERNAL
        return None

    def has_host(self, host: str) -> bool:
        """Whether the seeds, or what was allowed, reach as far as a host."""
        if self._mode is Mode.ANY:
            return True
        reach = registered_domain(host) if self._mode is Mode.DOMAIN else host
        if reach in self._hosts:
            return True
        return any(host == domain or host.endswith("." + domain) for domain in self._domains)
