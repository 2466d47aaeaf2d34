from __future__ import annotations

import pytest
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawlproject.monitoring.logs import SparingLogFormatter


@pytest.mark.parametrize(("level", "makes_lines"), [("DEBUG", True), ("INFO", False), (30, False)])
def test_lines_for_every_page_are_made_only_when_they_are_read(
    level: str | int, makes_lines: bool
) -> None:
    formatter = SparingLogFormatter.from_crawler(get_crawler(settings_dict={"LOG_LEVEL": level}))
    request = Request("https://example.com/")
    response = Response(request.url, request=request)
    spider = Spider("test")
    assert (formatter.crawled(request, response, spider) is not None) == makes_lines
    assert (formatter.scraped({}, response, spider) is not None) == makes_lines
