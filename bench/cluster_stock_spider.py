"""The spider of ``bench crawl``'s other side on scrapy-redis' scheduler and dupe filter.

scrapy-redis 0.9.1 needs no help to do that with Scrapy 2.19: its scheduler has the methods
that are asked for, and its dupe filter is made by ``from_spider``. That it passes a spider to
the stats is worth one warning a run. (Its own spiders would get seeds when they are idle only,
since ``start_requests`` is called by nobody. This one has a ``start()``.)

Run by ``scrapy runspider bench/cluster_stock_spider.py -a seed=URL -s REDIS_URL=… -O pages.json``.
"""

from __future__ import annotations

from typing import Any

from bench.stock import StockSpider


class RedisStockSpider(StockSpider):
    name = "redis_stock"
    custom_settings: dict[str, Any] = {  # noqa: RUF012  (Scrapy's own way to write it)
        **(StockSpider.custom_settings or {}),
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        # What is in Redis at the end is what is measured there.
        "SCHEDULER_PERSIST": True,
    }
