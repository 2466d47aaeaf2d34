"""What a crawl has to say about one URL, as plain values: those of ``why --json``.

``docs/usage.md`` says what each key means. What is not known is null, or an empty list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlproject.commands.times import iso
from crawlproject.frontier.base import ROBOTS, ROBOTS_UNREACHABLE, Counts, State
from crawlproject.frontier.entry import Wait
from crawlproject.monitoring.ending import Ending, Skipped, skipped
from crawlproject.recrawl.interval import NEVER
from crawlproject.urls.canonical import origin_of

if TYPE_CHECKING:
    from crawlproject.frontier.overview import HostFacts
    from crawlproject.frontier.questions import Known, Questions
    from crawlproject.monitoring.ending import Limits

Account = dict[str, Any]

_PAGE = ("status_code", "error", "content_type", "bytes", "title", "fetch_ms", "fetched_at")
# Of these the summary speaks among the pages.
_PAGES_TOO = {
    ROBOTS: ("that robots.txt forbids", ""),
    ROBOTS_UNREACHABLE: ("whose robots.txt could not be had", ""),
}
_WAITS = {Wait.LEVEL: "level", Wait.BUDGET: "max_pages"}


def account_of(questions: Questions, url: str, host: str, limits: Limits, now: float) -> Account:
    """``host`` is the name of the host that the URL belongs to."""
    known = questions.find(url)
    account: Account = {
        "url": url,
        "state": None,
        "depth": None,
        "way": [],
        "redirects_to": [],
        "redirected_from": [],
        "page": None,
        "attempts": 0,
        "error": None,
        "reason": None,
        "rule": None,
        "remedy": None,
        "waits_for": None,
        "ahead": None,
        "due_at": None,
        "visits": None,
        "sitemap": None,
        "names": None,
        "host": None,
        "robots": _robots(questions, url),
        "near": [],
        "is_over": questions.is_over(),
    }
    facts = questions.host(known, host)
    if facts is not None:
        account["host"] = {**host_account(facts), "in_flight": 0}
    if known is None:
        account["near"] = [one._asdict() for one in questions.near(url)]
        return account
    page = questions.page(known)
    account |= {
        "state": known.state,
        "depth": known.depth,
        "way": [step._asdict() for step in questions.way(known)],
        "redirects_to": questions.targets(known) or ([known.blocked] if known.blocked else []),
        "redirected_from": questions.sources(known),
        "page": None if page is None else {name: page.get(name) for name in _PAGE},
        "attempts": _attempts(known),
        "visits": _visits(questions, known),
        "sitemap": questions.hint(known) or None,
        "names": questions.named(known) if known.is_sitemap else None,
    }
    if known.state is State.FAILED:
        account["error"] = (page and page.get("error")) or known.verdict
    if known.state is State.SKIPPED and known.reason is not None:
        account |= {"reason": known.reason, "rule": known.rule}
        account["remedy"] = skip_words(known.reason, limits).remedy or None
    if known.state is State.QUEUED:
        account |= _queued(questions, known, now)
    if known.state is State.LEASED and questions.is_answered(known):
        account["waits_for"] = "links"
    if account["host"] is not None and known.host is not None:
        account["host"]["in_flight"] = questions.in_flight(known)
    return account


def _visits(questions: Questions, known: Known) -> Account | None:
    visits = questions.visits(known)
    if visits is None:
        return None
    history = visits.history
    return {
        "visits": history.visits,
        "visited_at": iso(history.visited_at),
        "next_at": iso(history.next_at) if history.next_at < NEVER else None,
        "changes_a_day": round(history.rate, 4),
        "change": visits.change,
        "changed_at": iso(visits.changed_at),
    }


def skip_words(reason: str, limits: Limits) -> Skipped:
    """What the URLs of a reason are, and what lets them in."""
    if reason in _PAGES_TOO:
        return Skipped(1, *_PAGES_TOO[reason])
    return skipped(Ending(counts=Counts(skipped={reason: 1}), limits=limits))[0]


def _attempts(known: Known) -> int:
    is_tried = known.state in {State.DONE, State.FAILED} and known.verdict is None
    return known.attempts + is_tried


def _queued(questions: Questions, known: Known, now: float) -> Account:
    if known.due is not None and known.due > now:
        return {"waits_for": "retry", "due_at": iso(known.due)}
    return {"waits_for": _WAITS.get(known.waits, "host"), "ahead": questions.ahead(known)}


def host_account(facts: HostFacts) -> Account:
    return {
        "name": facts.name,
        "queued": facts.queued,
        "retries": facts.retries,
        "requests": facts.requests,
        "failures": facts.failures,
        "ready_at": iso(facts.ready_at),
        "set_delay_seconds": facts.delay,
        "crawl_delay_seconds": facts.insisted,
        "autothrottle_delay_seconds": facts.throttled,
    }


def _robots(questions: Questions, url: str) -> Account | None:
    origin = origin_of(url)
    robots = questions.robots(origin)
    if robots is None:
        return None
    state = "no rules" if robots.body is None else "rules"
    return {
        "origin": origin,
        "state": state if robots.error is None else "unreachable",
        "error": robots.error,
        "fetched_at": iso(robots.fetched_at),
        "expires_at": iso(robots.expires_at),
    }
