"""How a crawl ended, in words. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.frontier.base import (
    DEPTH,
    DUPLICATE,
    NOFOLLOW,
    ROBOTS,
    ROBOTS_UNREACHABLE,
    UNLINKED,
    Counts,
)
from crawlproject.monitoring.rounds import round_note
from crawlproject.monitoring.tally import Tally
from crawlproject.recrawl.visit import Change
from crawlproject.scope.scope import EXCLUDED, INTERNAL, NOT_INCLUDED, OFFSITE, TOO_LONG
from crawlproject.scope.traps import (
    GROWING_PATH,
    HOST_BUDGET,
    PREFIX_BUDGET,
    REPEATED_PATH,
    TOO_MANY_PARAMS,
)

if TYPE_CHECKING:
    from crawlproject.frontier.overview import RoundFacts
    from crawlproject.monitoring.tally import Broken


# What a headline has room for.
_WORDS, _WORD_CHARS = 3, 40


class File(NamedTuple):
    """An output, as the user would write its name, and what is in it."""

    name: str
    content: str
    is_complete: bool = True


@dataclass(slots=True)
class Limits:
    """The settings that a skipped or untried URL is owed to."""

    # None: no limit; 0: the seeds only.
    depth: int | None = None
    max_pages: int = 0
    url_length: int = 0
    scope: str = "host"
    # As the crawl's end names them: CLOSESPIDER_TIMEOUT and the like.
    closespider: dict[str, float] = field(default_factory=dict)


class Earlier(NamedTuple):
    """The crawl went on with one of an earlier run."""

    pages: int
    seeds_joined: int = 0
    # Queued URLs that are out of scope now, and skipped ones that are in.
    scope_left: int = 0
    scope_entered: int = 0


@dataclass(slots=True)
class Ending:
    subject: list[str] = field(default_factory=list)
    # Scrapy's word for why it ended.
    reason: str = "finished"
    # Somebody sits at the terminal, so 'shutdown' means Ctrl-C and not a service's stop.
    is_watched: bool = True
    seconds: float | None = None
    tally: Tally = field(default_factory=Tally)
    # With the final referrers.
    broken: list[Broken] = field(default_factory=list)
    blocked: list[Broken] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    depths: dict[int, int] = field(default_factory=dict)
    files: list[File] = field(default_factory=list)
    limits: Limits = field(default_factory=Limits)
    dropped: int = 0
    # Pages that are duplicates of others, and near-duplicates.
    exact: int = 0
    near: int = 0
    # Pages that are empty without scripts, where nobody has asked for a browser.
    scripted: int = 0
    # Links, and URLs of sitemaps, that were not kept because of their length.
    left_out: int = 0
    exceptions: int = 0
    # Items that are in no output, because a pipeline has raised.
    lost: int = 0
    # What limited the speed, as a sentence.
    speed_limit: str | None = None
    earlier: Earlier | None = None
    # What came of visiting pages again, if this run did; and when, if nothing was due.
    round: RoundFacts | None = None
    next_visit_at: float | None = None
    ended_at: float = 0.0
    # The crawl directory, if it lasts.
    directory: str | None = None


def headline(ending: Ending) -> str:
    """What was crawled, how long it took and how it went, in one sentence."""
    tally = ending.tally
    pages = plural(tally.pages, "page") if tally.pages else "no page"
    subject = f" of {_subject(ending.subject)}" if ending.subject else ""
    time = f" in {duration(ending.seconds)}" if ending.seconds is not None else ""
    return f"Crawled {pages}{subject}{_share(ending)}{time}{_verdict(tally)}."


def _share(ending: Ending) -> str:
    """How many of the pages are this run's, when there are others."""
    if ending.earlier is None or not ending.earlier.pages or _is_about_visits(ending):
        return ""
    return f", {ending.tally.pages - ending.earlier.pages:,} of them now,"


def notes(ending: Ending) -> list[str]:
    """What a reader must know besides: why it ended early, what is missing."""
    candidates = [
        _volume(ending),
        _times(ending.tally),
        ending.speed_limit,
        _copies(ending),
        _scripted(ending.scripted),
        round_note(ending.round),
        _continuation(ending),
        _early_end(ending),
    ]
    if ending.left_out:
        candidates.append(
            f"{plural(ending.left_out, 'link')} left out for their length: -s URLLENGTH_LIMIT=N, "
            "URLS_MAX_LINK_CHARACTERS=N."
        )
    if ending.dropped:
        candidates.append(f"{plural(ending.dropped, 'item')} more dropped by a pipeline.")
    if ending.exceptions:
        candidates.append(f"{plural(ending.exceptions, 'exception')} in the spider: see the log.")
    if ending.lost:
        items = plural(ending.lost, "item")
        candidates.append(f"{items} lost: a pipeline raised an exception, see the log.")
    return [note for note in candidates if note]


class Skipped(NamedTuple):
    urls: int
    # What these URLs are, and what lets them in.
    what: str
    remedy: str


def skipped(ending: Ending) -> list[Skipped]:
    """Skipped URLs by reason, the most frequent first."""
    words = _reasons(ending.limits)
    return [
        Skipped(count, *words.get(reason, (reason, "")))
        for reason, count in sorted(
            ending.counts.skipped.items(), key=lambda item: (-item[1], item[0])
        )
        # Those are pages, with an error.
        if reason not in (ROBOTS, ROBOTS_UNREACHABLE)
    ]


def _reasons(limits: Limits) -> dict[str, tuple[str, str]]:
    if limits.depth == 0:
        too_deep = "linked from the seeds (depth=0)"
    else:
        too_deep = f"deeper than {plural(limits.depth or 0, 'link')} (depth={limits.depth})"
    wider = "any" if limits.scope == "domain" else "domain"
    return {
        DEPTH: (too_deep, "-a depth=N, or depth=none"),
        UNLINKED: ("that no page links to any more", ""),
        OFFSITE: ("on other hosts", f"-a scope={wider}, or allow=HOST"),
        NOFOLLOW: ("marked nofollow", "-a respect_nofollow=no"),
        EXCLUDED: ("excluded by a pattern", "a narrower -a exclude="),
        NOT_INCLUDED: ("not included by a pattern", "a wider -a include="),
        TOO_LONG: (f"longer than {limits.url_length:,} characters", "-s URLLENGTH_LIMIT=N"),
        INTERNAL: ("in a private network", "only with a seed in one"),
        REPEATED_PATH: ("whose path goes round in circles", "-s SCOPE_MAX_REPEATED_SEGMENTS=N"),
        DUPLICATE: ("that DUPEFILTER_CLASS took for others", ""),
        GROWING_PATH: (
            "that only make the path of their page longer",
            "-s SCOPE_MAX_REPEATED_SEGMENTS=0",
        ),
        TOO_MANY_PARAMS: ("with too many parameters", "-s SCOPE_MAX_QUERY_PARAMS=N"),
        HOST_BUDGET: ("beyond the budget of their host", "-s SCOPE_MAX_PAGES_PER_HOST=N"),
        PREFIX_BUDGET: (
            "beyond the budget of a calendar, facets or the like",
            "-s SCOPE_MAX_PAGES_PER_PREFIX=N",
        ),
    }


def duration(seconds: float) -> str:
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def time_span(seconds: float) -> str:
    """The same for one that may be of days."""
    return f"{seconds / 86_400:,.0f} days" if seconds >= 172_800 else duration(seconds)


def size(count: int) -> str:
    if count < 1000:
        return plural(count, "byte")
    value = float(count)
    units = ["TB", "GB", "MB", "kB"]
    while value >= 999.5 and units:
        value /= 1000
        unit = units.pop()
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:,.0f} {unit}"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _subject(names: list[str]) -> str:
    others = len(names) - 1
    return f"{names[0]} and {plural(others, 'other seed')}" if others else names[0]


def _verdict(tally: Tally) -> str:
    if not tally.pages:
        return ""
    if tally.fine == tally.pages:
        return ": it is fine" if tally.pages == 1 else ": all fine"
    parts = [
        f"{tally.fine:,} fine" if tally.fine else "",
        f"{tally.broken:,} broken" if tally.broken else "",
        f"{tally.blocked:,} blocked" if tally.blocked else "",
        f"{tally.denied:,} denied by robots.txt" if tally.denied else "",
        f"{tally.refused:,} refused{_refusals(tally)}" if tally.refused else "",
    ]
    return ": " + ", ".join(part for part in parts if part)


def _refusals(tally: Tally) -> str:
    """A gatekeeper's own words, the first of them."""
    words = [word[:_WORD_CHARS] for word in tally.refusals[:_WORDS]]
    more = ", …" if len(tally.refusals) > _WORDS else ""
    return f" ({', '.join(words)}{more})" if words else ""


def _volume(ending: Ending) -> str | None:
    tally = ending.tally
    if not tally.bytes:
        return None
    pages = tally.pages - (ending.earlier.pages if ending.earlier else 0)
    if ending.round is not None:
        pages = ending.round.visited + ending.round.changes.get(Change.NEW, 0)
    rate = f", {pages / ending.seconds:,.1f} pages/s" if ending.seconds and pages > 0 else ""
    return f"{size(tally.bytes)}{rate}."


def _times(tally: Tally) -> str | None:
    found = tally.times.percentiles()
    if found is None:
        return None
    half, most, all_but_few = (f"{milliseconds:,} ms" for milliseconds in found)
    return f"Half of the answers took {half} or less, 90 % {most}, 99 % {all_but_few}."


def _copies(ending: Ending) -> str | None:
    """How many pages are duplicates: of all of them, those of one kind have a whole sentence."""
    exact, near = ending.exact, ending.near
    have = "has" if (exact or near) == 1 else "have"
    if exact and near:
        pages = plural(exact, "page")
        return f"{pages} {have} the body of another, {near:,} almost the text of one."
    if exact or near:
        what = "the body" if exact else "almost the text"
        return f"{plural(exact or near, 'page')} {have} {what} of another."
    return None


def _scripted(pages: int) -> str | None:
    if not pages:
        return None
    look, them = ("looks", "it") if pages == 1 else ("look", "them")
    return (
        f"{plural(pages, 'page')} {look} empty without scripts: -a render=auto shows {them} to a "
        "browser."
    )


def _is_about_visits(ending: Ending) -> bool:
    """Whether pages were visited again, or would have been."""
    return ending.round is not None or ending.next_visit_at is not None


def _due(ending: Ending) -> str | None:
    """That nothing was to be visited, and when something will be."""
    if ending.next_visit_at is None:
        return None
    return (
        f"No page was due: the next one is in {time_span(ending.next_visit_at - ending.ended_at)}; "
        "-a recrawl=all visits all of them now."
    )


def _continuation(ending: Ending) -> str | None:
    earlier = ending.earlier
    if earlier is None:
        return None
    parts = []
    if earlier.seeds_joined:
        parts.append(f"{plural(earlier.seeds_joined, 'new seed')} joined")
    if earlier.scope_left:
        left = plural(earlier.scope_left, "queued URL")
        parts.append(f"{left} went out by the changed scope")
    if earlier.scope_entered:
        entered = plural(earlier.scope_entered, "skipped URL")
        parts.append(f"{entered} came in by the changed scope")
    if _is_about_visits(ending) and not parts:
        return _due(ending)
    return f"Went on with an earlier crawl{': ' if parts else ''}{'; '.join(parts)}."


def _early_end(ending: Ending) -> str | None:
    untried = ending.counts.open
    rest = f"{plural(untried, 'URL')} {'was' if untried == 1 else 'were'} not tried"
    parts = [_cause(ending), rest if untried else None]
    if not any(parts):
        return None
    sentence = "; ".join(part for part in parts if part) + "."
    if untried and ending.directory:
        larger = " with a larger max_pages" if ending.reason == "finished" else ""
        sentence += f" The same command{larger} goes on ({ending.directory})."
    return sentence


def _cause(ending: Ending) -> str | None:
    reason = ending.reason
    if reason == "finished":
        return _fullness(ending)
    if reason in ("shutdown", "stopped"):
        cause = "Ctrl-C" if ending.is_watched else "a signal"
        if reason == "stopped":
            cause = "scrapy stop"
        end = "in-flight requests were finished"
        if ending.files and all(file.is_complete for file in ending.files):
            end += " and the files are complete"
        return f"Stopped by {cause}: {end}"
    limit = ending.limits.closespider.get(reason)
    if limit is None:
        return f"Stopped early ({reason})"
    if reason == "closespider_timeout":
        return f"Stopped after the time limit (timeout={limit:g})"
    return f"Stopped at the limit ({reason.upper()}={limit:g})"


def _fullness(ending: Ending) -> str | None:
    limit = ending.limits.max_pages
    if ending.earlier is not None and 0 < limit < ending.earlier.pages:
        before = plural(ending.earlier.pages, "page")
        return f"max_pages={limit} is less than the {before} that were there, which all stay"
    # Nothing else than the budget leaves URLs behind.
    is_full = limit and ending.counts.open
    return f"{plural(limit, 'page')} reached (max_pages)" if is_full else None
