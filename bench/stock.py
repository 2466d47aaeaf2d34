"""The other side: a CrawlSpider with a LinkExtractor, as Scrapy's own documentation has it.

Run by ``scrapy runspider bench/stock.py -a seed=URL -O pages.json``, outside of this project.
It is the spider of a user who knows Scrapy and wants the same pages in the same JSON, not a
straw man: whatever makes it faster without leaving stock Scrapy is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response, TextResponse
    from scrapy.link import Link

_LINKS = "links"


class OnceExtractor(LinkExtractor):
    """Both the callback and the rule ask for the links of a page: the second time costs nothing."""

    def extract_links(self, response: TextResponse) -> list[Link]:
        links: list[Link] | None = response.meta.get(_LINKS)
        if links is None:
            links = response.meta[_LINKS] = super().extract_links(response)
        return links


class StockSpider(CrawlSpider):
    name = "stock"
    # No allow_domains: the output has the links to other sites too. They are kept out below,
    # for less than it costs in the extractor, or in allowed_domains after a Request was made.
    extractor = OnceExtractor()
    rules = (Rule(extractor, callback="parse_page", follow=True, process_links="on_site"),)
    custom_settings = {  # noqa: RUF012  (Scrapy's own way to write it)
        "ROBOTSTXT_OBEY": True,
        # As many as the other side has. Scrapy's default is 8, and there is one host.
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        # A DEBUG line for each page, the default, would be a cost that users turn off.
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
    }

    def __init__(self, seed: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seed = seed
        self.site = "/".join(seed.split("/", 3)[:3]) + "/"

    async def start(self) -> AsyncIterator[Request]:
        # start_urls are not filtered, so the home page would be crawled, and written, twice.
        yield Request(self.seed)

    def on_site(self, links: list[Link]) -> list[Link]:
        return [link for link in links if link.url.startswith(self.site)]

    def parse_start_url(self, response: Response, **kwargs: Any) -> Any:
        return self.parse_page(response)

    def parse_page(self, response: Response) -> Iterator[dict[str, Any]]:
        yield {
            "url": response.url,
            "status_code": response.status,
            "depth": response.meta["depth"],
            "links": [link.url for link in self.extractor.extract_links(response)],  # type: ignore[arg-type]
        }
