"""Spider arguments: each is the shortcut of a setting, and both are checked the same way.

Every value is a string, because that is what scrapyd sends. ``apply`` turns arguments into
settings and checks all settings that a user is likely to touch, before anything is fetched.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.settings import SETTINGS_PRIORITIES, default_settings

from crawlproject.errors import BadArgument
from crawlproject.fetching.lookups import CARES, SYSTEM
from crawlproject.fetching.origin_auth import origins_from
from crawlproject.frontier.configuration import check_dupefilter, check_not_removed
from crawlproject.frontier.limits import complete_limits
from crawlproject.frontier.opening import DOMAIN
from crawlproject.frontier.redis.compatibility import check_scrapy_redis
from crawlproject.frontier.rounds import MODES as ROUND_MODES
from crawlproject.frontier.rounds import NEVER
from crawlproject.render import install as render
from crawlproject.render.install import MODES
from crawlproject.scope.domains import registered_domain
from crawlproject.scope.internal import is_internal, is_loopback
from crawlproject.spiders import values
from crawlproject.spiders.checked import CHECKS
from crawlproject.spiders.refused import check_not_refused
from crawlproject.spiders.seeds import canonical_seeds, seeds_of_file, split_seeds
from crawlproject.spiders.sitemaps import MODES as SITEMAP_MODES
from crawlproject.urls.canonical import host_of, origin_of
from crawlproject.urls.fingerprint import canonicalizer_from

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from scrapy.settings import BaseSettings


class Argument(NamedTuple):
    setting: str
    parse: Callable[[str, Any], Any]
    help: str = ""
    # Values of the setting that mean 'not set' and need no check.
    unset: tuple[Any, ...] = ()


_BOUNDS = ("MIN", "MAX")
# How settings say 'no limit'.
_ZERO = (None, 0, "0", "0.0")

ARGUMENTS: dict[str, Argument] = {
    "seed": Argument(
        "SEEDS", lambda name, value: split_seeds(value), "URL to start from, or several"
    ),
    "seeds_file": Argument("SEEDS_FILE", values.text, "file of them, one a line", (None,)),
    "depth": Argument(
        "DEPTH_LIMIT", values.depth, "links from a seed (16); 0: the seeds only; none: no limit"
    ),
    "max_pages": Argument("SCOPE_MAX_PAGES", values.whole_number(1), "pages, exactly", _ZERO),
    "timeout": Argument(
        "CLOSESPIDER_TIMEOUT", values.duration, "for the whole crawl: 90, 30s, 2m", _ZERO
    ),
    "scope": Argument("SCOPE_MODE", values.mode, "host (default), domain or any"),
    "allow": Argument("SCOPE_ALLOW", values.hosts, "further hosts, with their subdomains"),
    "include": Argument("SCOPE_INCLUDE", values.patterns, "regular expression a URL must match"),
    "exclude": Argument("SCOPE_EXCLUDE", values.patterns, "… and must not match"),
    "delay": Argument(
        "DOWNLOAD_DELAY",
        values.seconds,
        "seconds from a response of a host to the next request (0.25; 0 with rate)",
    ),
    "rate": Argument(
        "POLITENESS_RATE", values.per_second, "requests started a second per host", _ZERO
    ),
    "concurrency": Argument(
        "CONCURRENT_REQUESTS_PER_DOMAIN", values.whole_number(1), "in flight per host (2)"
    ),
    "workers": Argument("CONCURRENT_REQUESTS", values.whole_number(1), "in flight in all (32)"),
    "user_agent": Argument("USER_AGENT", values.text, "who asks: 'acme/1 (+https://acme.example)'"),
    "header": Argument(
        "FETCHING_HEADERS",
        values.headers,
        "for the seeds' origins: 'X-Env: staging'; several: by ' | '",
        ({}, None),
    ),
    "cookie": Argument(
        "FETCHING_COOKIES", values.cookies, "for the seeds' origins: 'a=b; c=d'", ({}, None)
    ),
    "cookies": Argument(
        "COOKIES_ENABLED", values.yes_or_no, "keep cookies and send them back: no (default) or yes"
    ),
    "render": Argument(
        "RENDER_MODE", values.one_of(*MODES), "never (default), auto: pages made by scripts; always"
    ),
    "sitemaps": Argument(
        "SITEMAPS_MODE", values.one_of(*SITEMAP_MODES), "read them: auto (default), always, never"
    ),
    "recrawl": Argument(
        "RECRAWL_MODE",
        values.one_of(*ROUND_MODES),
        "a finished crawl: due (default), all or never",
    ),
    "respect_nofollow": Argument("URLS_RESPECT_NOFOLLOW", values.yes_or_no, "yes (default) or no"),
}

_CHECKED = (*ARGUMENTS.values(), *(Argument(*check) for check in CHECKS.items()))
# Settings with these prefixes are scrapy-redis', and have checks of their own.
_SCRAPY_REDIS = ("REDIS_", "SCHEDULER_")

# Why a seed is refused.
INTERNAL_SEED = "is an internal address: only public ones may be crawled here"

# scrapyd adds its own to every job.
_SCRAPYD = frozenset({"_job", "_version"})

_DECLARE = (
    " (one of your own is declared as a parameter of __init__() or as an attribute of the class)"
)

# Defaults of a crawl of this machine's own servers, unless the user sets a delay or a rate.
_LOOPBACK_SETTINGS: dict[str, Any] = {
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "AUTOTHROTTLE_ENABLED": False,
}


def apply(
    arguments: Mapping[str, Any], settings: BaseSettings, declared: Collection[str] | None = None
) -> list[str]:
    """Write arguments into the settings and check them all; the seeds that come out of it.

    ``declared``: those of a spider class of the user's own, which are not ours to check.
    """
    for name, value in arguments.items():
        if name not in ARGUMENTS:
            if name in _SCRAPYD or name in (declared or ()):
                continue
            hint = "" if declared is None else _DECLARE
            raise BadArgument(name, f"no such argument{_nearest(name, declared or ())}{hint}")
        _set(settings, name, ARGUMENTS[name].parse(name, value))
    check_all(settings)
    if not settings.getbool("CRAWLSPIDER_FOLLOW_LINKS"):
        settings.set("SCOPE_SEEDS_ONLY", True, priority="cmdline")
    seeds = _seeds(arguments, settings)
    _keep_outside(seeds, settings)
    settings.set("SEEDS", seeds, priority="cmdline")
    _keep_password_home(seeds, settings)
    _keep_headers_home(seeds, settings)
    complete_limits(settings, "project")
    _treat_hosts(settings)
    render.prepare(settings)
    # Without seeds, nobody knows where those that are fed later will be.
    is_local = bool(seeds) and all(is_loopback(host_of(seed)) for seed in seeds)
    if is_local and settings.getbool("POLITENESS_FAST_LOOPBACK") and not _is_slowed(settings):
        for name, value in _LOOPBACK_SETTINGS.items():
            # What the user said stands; 'project' is where our own defaults are.
            settings.set(name, value, priority="project")
    return seeds


def are_known(settings: BaseSettings) -> bool:
    """Whether the settings that arguments stand for are there; in other projects they are not."""
    return all(argument.setting in settings for argument in ARGUMENTS.values())


def check_all(settings: BaseSettings) -> None:
    """Check every setting that has a check, and turn what ``-s`` gave into values."""
    _check(settings)
    _check_visits(settings)
    _check_names(settings)


_OF_GATE = ("CONCURRENT_REQUESTS_PER_DOMAIN", "DOWNLOAD_SLOTS")


def check_ours(settings: BaseSettings) -> None:
    """Check the settings of this project that another one sets, and the limits of Scrapy's by which
    the gate would let no request start. Raises BadArgument.
    """
    for argument in _CHECKED:
        name = argument.setting
        is_ours = not hasattr(default_settings, name) and not name.startswith(_SCRAPY_REDIS)
        if is_ours or name in _OF_GATE:
            _check_one(argument, settings)


def _set(settings: BaseSettings, name: str, value: Any) -> None:
    if name == "depth":
        # Scrapy's own setting can't say 'the seeds only': its 0 means no limit.
        settings.set("SCOPE_SEEDS_ONLY", value == 0, priority="cmdline")
        value = value or 0
    settings.set(ARGUMENTS[name].setting, value, priority="cmdline")


def _check(settings: BaseSettings) -> None:
    check_not_removed(settings)
    check_not_refused(settings)
    check_dupefilter(settings)
    check_scrapy_redis(settings)
    for argument in _CHECKED:
        _check_one(argument, settings)


def _check_one(argument: Argument, settings: BaseSettings) -> None:
    value = settings.get(argument.setting)
    # Not every version of Scrapy has all its settings.
    if argument.setting not in settings or value in argument.unset:
        return
    parsed = argument.parse(argument.setting, value)
    priority = settings.getpriority(argument.setting) or 0
    if parsed is None and value is not None:
        # 'none' is no limit, which settings say with 0.
        parsed = 0
    # What -s gave is a string: from here on it is a value.
    settings.set(argument.setting, parsed, priority)


def _check_visits(settings: BaseSettings) -> None:
    if settings.getbool("RECRAWL_CONTINUOUS") and settings["RECRAWL_MODE"] == NEVER:
        raise BadArgument(
            "recrawl", "never, and RECRAWL_CONTINUOUS, which visits for ever: leave one of them out"
        )
    least, most = (settings.getfloat(f"RECRAWL_{which}_INTERVAL_SECONDS") for which in _BOUNDS)
    if least > most:
        raise BadArgument(
            "RECRAWL_MIN_INTERVAL_SECONDS",
            f"{least:g} is more than RECRAWL_MAX_INTERVAL_SECONDS={most:g}",
        )


def _check_names(settings: BaseSettings) -> None:
    if settings["POLITENESS_RESOLVER"] == SYSTEM and settings["POLITENESS_NAME_SERVERS"]:
        raise BadArgument(
            "POLITENESS_NAME_SERVERS", f"the system has its own: leave out one, or say {CARES}"
        )
    least, most = (settings.getfloat(f"POLITENESS_DNS_{which}_TTL_SECONDS") for which in _BOUNDS)
    if least > most:
        raise BadArgument(
            "POLITENESS_DNS_MIN_TTL_SECONDS",
            f"{least:g} is more than POLITENESS_DNS_MAX_TTL_SECONDS={most:g}",
        )


def _seeds(arguments: Mapping[str, Any], settings: BaseSettings) -> list[str]:
    canonicalize = canonicalizer_from(settings)
    name = "seed" if "seed" in arguments else "SEEDS"
    seeds = canonical_seeds(name, split_seeds(settings.get("SEEDS") or []), canonicalize)
    if path := settings.get("SEEDS_FILE"):
        name = "seeds_file" if "seeds_file" in arguments else "SEEDS_FILE"
        seeds = list(dict.fromkeys(seeds + seeds_of_file(name, path, canonicalize)))
    is_fed = settings["REDIS_START_URLS_KEY"] or settings.getbool("FRONTIER_WAIT_FOR_SEEDS")
    if not seeds and not (settings["REDIS_URL"] and is_fed):
        raise BadArgument("seed", "missing: give a URL, as in -a seed=https://example.com")
    return seeds


def _keep_outside(seeds: list[str], settings: BaseSettings) -> None:
    """Where a seed's name leads is judged when a connection is made (``fetching/guard.py``)."""
    if settings.getbool("SCOPE_INTERNAL_SEEDS"):
        return
    for seed in seeds:
        if is_internal(host_of(seed)):
            raise BadArgument("seed", f"{seed} {INTERNAL_SEED}")


def _keep_password_home(seeds: list[str], settings: BaseSettings) -> None:
    """A password goes to the seeds' origins, unless the user says otherwise."""
    has_password = settings.get("HTTPAUTH_USER") or settings.get("HTTPAUTH_PASS")
    if not has_password:
        return
    if settings.getpriority("HTTPAUTH_DOMAIN"):
        origins_from("HTTPAUTH_DOMAIN", settings["HTTPAUTH_DOMAIN"])
        return
    if not seeds:
        raise BadArgument(
            "HTTPAUTH_DOMAIN", "missing: seeds come later, so which origin gets the password?"
        )
    if len({host_of(seed) for seed in seeds}) > 1:
        raise BadArgument(
            "HTTPAUTH_DOMAIN", "missing: which of the seeds' hosts gets the password?"
        )
    origins = " ".join(sorted({origin_of(seed) for seed in seeds}))
    settings.set("HTTPAUTH_DOMAIN", origins, priority="cmdline")


def _keep_headers_home(seeds: list[str], settings: BaseSettings) -> None:
    """Headers and cookies go to the seeds' origins, unless the user names others."""
    if not settings["FETCHING_HEADERS"] and not settings["FETCHING_COOKIES"]:
        return
    name = "FETCHING_ORIGINS"
    if settings[name]:
        if origins_from(name, settings[name]) is None:
            raise BadArgument(
                name, f"{settings[name]!r} is not an origin such as https://staging.example:8443"
            )
        return
    if not seeds:
        raise BadArgument(name, "missing: seeds come later, so which origin gets the headers?")
    if len({host_of(seed) for seed in seeds}) > 1:
        raise BadArgument(name, "missing: which of the seeds' hosts gets the headers and cookies?")
    origins = " ".join(sorted({origin_of(seed) for seed in seeds}))
    settings.set(name, origins, priority="cmdline")


def _is_slowed(settings: BaseSettings) -> bool:
    """Whether the user has set a delay or a rate."""
    is_set = (settings.getpriority("DOWNLOAD_DELAY") or 0) > SETTINGS_PRIORITIES["project"]
    has_delay = is_set and settings.getfloat("DOWNLOAD_DELAY") > 0
    return has_delay or settings.getfloat("POLITENESS_RATE") > 0


def _treat_hosts(settings: BaseSettings) -> None:
    """Give Scrapy's downloader slots the exceptions of the gate, for requests without a lease."""
    special = settings.getdict("POLITENESS_HOSTS")
    slots = settings.getdict("DOWNLOAD_SLOTS")
    if settings["POLITENESS_HOST"] == DOMAIN:
        for name, hosts in (("POLITENESS_HOSTS", special), ("DOWNLOAD_SLOTS", slots)):
            for host in hosts:
                if (domain := registered_domain(host)) != host:
                    raise BadArgument(
                        name, f"{host!r} is part of {domain}: POLITENESS_HOST is domain"
                    )
    if special:
        slots |= {host: {**slots.get(host, {}), **_slot(special[host])} for host in special}
        settings.set("DOWNLOAD_SLOTS", slots, priority="cmdline")


def _slot(limits: Mapping[str, float]) -> dict[str, float]:
    """The limits of a host as a downloader slot, whose delay counts from start to start."""
    slot = {name: limits[name] for name in ("concurrency", "delay") if name in limits}
    if rate := limits.get("rate"):
        slot["delay"] = max(slot.get("delay", 0.0), 1 / rate)
    return slot


def _nearest(name: str, declared: Collection[str]) -> str:
    nearest = get_close_matches(name, (*declared, *ARGUMENTS), n=1, cutoff=0.5)
    if nearest:
        return f"; did you mean {nearest[0]}?"
    return f"; there are {', '.join(ARGUMENTS)}"
