"""A shared crawl is copied whole, whatever comes in meanwhile."""

from __future__ import annotations

from redis import Redis

from crawlproject.frontier.database import connect_to_memory
from crawlproject.frontier.questions import Questions
from crawlproject.frontier.redis.aside import LeftThere
from crawlproject.frontier.redis.keys import prefix_of
from crawlproject.frontier.redis.mirror import Mirror
from crawlproject.frontier.redis.scripts import Scripts
from crawlproject.urls.canonical import host_of
from tests.commands.inquiring import SharedCrawl, url


class Early(Mirror):
    """Has asked how many URLs there are before most of them came in."""

    has_asked = False

    def _last_id(self) -> int:
        if self.has_asked:
            return super()._last_id()
        self.has_asked = True
        return 64


def copied(address: str) -> Questions:
    database = connect_to_memory()
    scripts = Scripts(Redis.from_url(address, protocol=2), prefix_of("crawl"))
    Early(scripts, database, host_of, LeftThere(scripts)).copy(with_pages=False)
    return Questions(database)


def a_crawl(address: str) -> None:
    crawl = SharedCrawl(address)
    crawl.fetch("/", *(f"/{number}" for number in range(200)))
    crawl.redirect("/0", "/190")
    crawl.close()


def test_what_came_in_while_it_was_copied_is_there_as_far_as_it_is_led_to(redis_url: str) -> None:
    a_crawl(redis_url)
    questions = copied(redis_url)
    source = questions.find(url("/0"))
    assert source is not None
    assert questions.targets(source) == [url("/190")]
    # Of the rest a later copy knows.
    assert questions.find(url("/189")) is None


def test_nothing_leads_to_what_is_lost(redis_url: str) -> None:
    a_crawl(redis_url)
    Redis.from_url(redis_url).delete(f"{prefix_of('crawl')}e:2")
    source = copied(redis_url).find(url("/0"))
    assert source is not None
    assert source.target is None
