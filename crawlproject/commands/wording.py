"""The account of a URL, in words. Pure."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from crawlproject.commands.account import skip_words
from crawlproject.commands.times import clock, distance, moment_of
from crawlproject.failures import explain
from crawlproject.monitoring.ending import plural, size

if TYPE_CHECKING:
    from crawlproject.commands.account import Account
    from crawlproject.monitoring.ending import Limits

# Steps of a way that are shown at its beginning and at its end.
_FIRST_STEPS, _LAST_STEPS = 10, 10


def summary(account: Account, limits: Limits, now: float) -> str:
    """The answer, in a sentence or a few."""
    state = account["state"]
    if state is None:
        return _never_seen(account)
    if state == "skipped":
        return _skipped(account, limits)
    if state == "queued":
        return f"It is queued: {_queue(account, now)}{_pause(account)}"
    if state == "leased":
        return _leased(account)
    return _failed(account) if state == "failed" else _done(account)


def facts(account: Account, now: float) -> list[tuple[str, str]]:
    """What else is known, by label."""
    rows: list[tuple[str, str | None]] = [*_page_facts(account, now)]
    if account["depth"] is not None:
        rows.append(("depth", str(account["depth"])))
    if account["attempts"] > 1:
        rows.append(("attempts", str(account["attempts"])))
    rows += [*_visit_facts(account["visits"], now), *_sitemap_facts(account["sitemap"])]
    rows += [("reason", account["reason"]), ("rule", account["rule"])]
    rows.append(("what lets it in", account["remedy"]))
    if account["state"] in {None, "queued", "leased"}:
        rows += [("host", _host(account, now)), ("robots.txt", _robots(account["robots"], now))]
    return [(label, value) for label, value in rows if value]


def steps(way: list[dict[str, str]]) -> list[tuple[str, str]]:
    """The way to a URL, from where it began, without the middle of a long one."""
    rows = [(step["lead"], step["url"]) for step in way]
    left_out = len(rows) - _FIRST_STEPS - _LAST_STEPS
    if left_out <= 0:
        return rows
    return [*rows[:_FIRST_STEPS], ("…", f"{left_out:,} more"), *rows[-_LAST_STEPS:]]


# --- states


def _done(account: Account) -> str:
    if account["names"] is not None:
        return f"It is a sitemap, and names {plural(account['names'], 'URL')}."
    if targets := account["redirects_to"]:
        further = f", and that in the end to {targets[-1]}" if len(targets) > 1 else ""
        return f"It redirects to {targets[0]}{further}."
    page = account["page"]
    if page is None:
        return (
            "It was fetched, but no page of it was kept: a pipeline dropped it, "
            "or the spider made none."
        )
    return f"It was fetched{_with_error(page['error'])}."


def _with_error(error: Any) -> str:
    return f", with an error: {explain(str(error))}" if error else ""


def _failed(account: Account) -> str:
    if account["names"] is not None:
        return "It would be a sitemap, but there is none."
    error = account["error"]
    why = explain(str(error)) if error else "no page of it was kept that says why"
    attempts = account["attempts"]
    after = f", after {plural(attempts, 'attempt')}" if attempts > 1 else ""
    return f"It failed: {why}{after}."


def _leased(account: Account) -> str:
    if account["waits_for"] == "links":
        return "It was fetched; its links wait until those of the pages before it are in."
    if account["running"] is not None:
        return "It is being fetched."
    return "It was being fetched when the crawl was killed: the next run fetches it again."


def _skipped(account: Account, limits: Limits) -> str:
    words = skip_words(account["reason"], limits)
    if words.what == account["reason"]:
        return f"It was skipped: {words.what}."
    return f"It was skipped, as are all URLs {words.what}."


def _never_seen(account: Account) -> str:
    if account["is_over"]:
        return "It was never seen: no page that was fetched links to it."
    return (
        "It was never seen: no page that was fetched so far links to it. "
        "The crawl is not over, so it may yet be found."
    )


# --- what a queued URL waits for


def _queue(account: Account, now: float) -> str:
    ahead = account["ahead"]
    waits_for = account["waits_for"]
    if waits_for == "retry":
        due = moment_of(account["due_at"]) or now
        tried = account["attempts"]
        again = f"{plural(tried, 'attempt')} failed, " if tried else ""
        return f"{again}it is tried again {distance(due, now)}."
    if waits_for == "level":
        rest = f"{plural(ahead, 'URL')} nearer to the seeds {'is' if ahead == 1 else 'are'}"
        return (
            f"it waits until the {rest} done, because only then it is known which URLs "
            "come first in a budget, or what the seeds take into scope."
        )
    if waits_for == "max_pages":
        before = f"with {plural(ahead, 'URL')} before it" if ahead else "as the first of them"
        return f"it waits beyond max_pages, {before}; a larger -a max_pages=N lets it in."
    host = account["host"]
    name = host["name"] if host else "its host"
    before = f"{plural(ahead, 'URL')} of {name} {'comes' if ahead == 1 else 'come'} before it"
    return f"{before if ahead else f'it is the next of {name}'}."


def _pause(account: Account) -> str:
    if account["running"] is not None:
        return ""
    return " No crawl runs here now: the same command goes on with it."


def _host(account: Account, now: float) -> str | None:
    host = account["host"]
    if host is None:
        return "never asked" if account["state"] is None else None
    parts = [host["name"]]
    ready_at = moment_of(host["ready_at"])
    is_held = ready_at is not None and ready_at > now
    parts.append(f"ready {distance(ready_at or now, now)}" if is_held else "ready")
    parts.append(delay_words(host))
    if host["failures"]:
        parts.append(f"overloaded {plural(host['failures'], 'time')} in a row")
    if host["in_flight"]:
        parts.append(f"{host['in_flight']} in flight")
    parts.append(plural(host["requests"], "request"))
    return ", ".join(part for part in parts if part)


def delay_words(host: Account) -> str:
    """The delay that a host has, and why: the longest counts."""
    seconds, cause = max(
        (host["set_delay_seconds"], "DOWNLOAD_DELAY"),
        (host["autothrottle_delay_seconds"], "AutoThrottle"),
        (host["crawl_delay_seconds"], "Crawl-delay"),
        key=lambda delay: delay[0],
    )
    return f"delay {seconds:.3g} s ({cause})" if seconds > 0 else ""


def _robots(robots: Account | None, now: float) -> str | None:
    if robots is None:
        return None
    words = {"rules": "has rules", "no rules": "has no rules"}
    state = words.get(robots["state"]) or f"could not be had: {robots['error']}"
    fetched_at = moment_of(robots["fetched_at"])
    return state if fetched_at is None else f"{state}, asked {distance(fetched_at, now)}"


# --- pages, whose values a pipeline may have changed to anything


def _page_facts(account: Account, now: float) -> list[tuple[str, str | None]]:
    page = account["page"] or {}
    status, length, milliseconds = (page.get(name) for name in ("status_code", "bytes", "fetch_ms"))
    moment = moment_of(page.get("fetched_at"))
    # A page may also say that nothing was asked for.
    is_asked = moment is not None and (status is not None or account["attempts"])
    return [
        ("tried" if status is None else "fetched", clock(moment or 0, now) if is_asked else None),
        ("status", _status(status)),
        ("title", _words(page.get("title"))),
        ("type", _words(page.get("content_type"))),
        ("size", size(length) if isinstance(length, int) else None),
        ("time", f"{milliseconds:,} ms" if isinstance(milliseconds, int) else None),
    ]


def _visit_facts(visits: Account | None, now: float) -> list[tuple[str, str | None]]:
    if visits is None:
        return []
    last, following = moment_of(visits["visited_at"]), moment_of(visits["next_at"])
    times = f"{plural(visits['visits'], 'time')}, last {distance(last or now, now)}"
    days = 1 / visits["changes_a_day"] if visits["changes_a_day"] else 0
    rate = f"about every {days:,.1f} days" if days >= 1 else f"about every {24 * days:,.1f} hours"
    changed_at = moment_of(visits["changed_at"])
    if following is None:
        due = "not any more"
    else:
        due = "now" if following <= now else distance(following, now)
    return [
        ("visited", times),
        ("changes", rate),
        ("last change", f"{visits['change']}, {distance(changed_at, now)}" if changed_at else None),
        ("next visit", due),
    ]


def _sitemap_facts(hint: Account | None) -> list[tuple[str, str | None]]:
    if hint is None:
        return []
    said = [
        f"{name} {hint[name]}" for name in ("lastmod", "changefreq", "priority") if name in hint
    ]
    return [("in sitemap", ", ".join([str(hint["url"]), *said]))]


def _words(value: object) -> str | None:
    return None if value is None else " ".join(str(value).split())


def _status(status: object) -> str | None:
    try:
        return None if status is None else f"{status} {HTTPStatus(int(str(status))).phrase}"
    except ValueError:
        return str(status)
