"""What limited the speed of a crawl, in a sentence that names what to change. *Pure.*"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlproject.frontier.bottleneck import Limit

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from crawlproject.frontier.bottleneck import Bottleneck

# In less than this, a crawl says nothing about its speed: requests, and seconds that they waited.
_LEAST_REQUESTS, _LEAST_SECONDS = 10, 1.0
# The part of a run that the slowest host has to have waited.
_LEAST_PART = 0.5
# From this part of a processor on, a process has no more of it.
_BUSY = 0.8

CPU, WORKERS = "cpu", "workers"
# As in the stat politeness/limited_by.
_NAMES = {limit: limit.name.lower() for limit in Limit}


class Run(NamedTuple):
    """What a process has spent."""

    seconds: float
    cpu_seconds: float
    most_in_flight: int


class SpeedLimit(NamedTuple):
    # The word for stats, and the host; of a limit that is no host's, none.
    name: str
    host: str | None
    sentence: str


def speed_limit(
    bottleneck: Bottleneck | None, run: Run, settings: BaseSettings
) -> SpeedLimit | None:
    """None: the crawl was too short, or waited for something else, such as for links to follow."""
    if (
        bottleneck is None
        or bottleneck.requests < _LEAST_REQUESTS
        or bottleneck.waited < max(_LEAST_SECONDS, _LEAST_PART * run.seconds)
    ):
        return None
    if bottleneck.limit is Limit.CRAWLER:
        return _of_crawler(run, settings.getint("CONCURRENT_REQUESTS"))
    sentence = f"Speed limited by {_what(bottleneck, settings)}"
    return SpeedLimit(_NAMES[bottleneck.limit], bottleneck.host, sentence)


def _of_crawler(run: Run, workers: int) -> SpeedLimit | None:
    if run.cpu_seconds >= _BUSY * run.seconds:
        more = "./scripts/cluster shares a crawl among processes"
        return SpeedLimit(CPU, None, f"Speed limited by this machine's CPU: {more}.")
    if 0 < workers <= run.most_in_flight:
        what = f"the {workers} requests in flight in all: -a workers=…"
        return SpeedLimit(WORKERS, None, f"Speed limited by {what}")
    return None


def _what(bottleneck: Bottleneck, settings: BaseSettings) -> str:
    host, value = bottleneck.host, bottleneck.value

    def change(argument: str, setting: str) -> str:
        is_usual = value == settings.getfloat(setting)
        return f"-a {argument}=…" if is_usual else "POLITENESS_HOSTS or DOWNLOAD_SLOTS"

    match bottleneck.limit:
        case Limit.DELAY:
            return f"the delay of {value:g} s on {host}: {change('delay', 'DOWNLOAD_DELAY')}"
        case Limit.CRAWL_DELAY:
            return f"the Crawl-delay of {value:g} s in robots.txt of {host}."
        case Limit.RATE:
            rate = f"the rate of {value:g} requests a second on {host}"
            return f"{rate}: {change('rate', 'POLITENESS_RATE')}"
        case Limit.AUTOTHROTTLE:
            interval = f"{value:.2g} s from one request to the next"
            return f"AutoThrottle on {host} ({interval}): -a concurrency=…"
        case Limit.CONCURRENCY:
            turn = change("concurrency", "CONCURRENT_REQUESTS_PER_DOMAIN")
            return f"the concurrency of {value:g} on {host}: {turn}"
    return f"the pauses that {host} has asked for (429, 503, robots.txt unavailable)."
