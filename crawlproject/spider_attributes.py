"""Limits of downloads that a spider has as attributes: they win over the settings, as in Scrapy.

Attributes read: ``download_timeout``, ``download_maxsize``, ``download_warnsize``. They are
deprecated, and Scrapy's warning says which setting to use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.deprecate import warn_on_deprecated_spider_attribute

from crawlproject.errors import BadArgument

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


def download_limit(crawler: Crawler, setting: str) -> float:
    """The limit of a spider's attribute, or of the setting with the same name."""
    name = setting.lower()
    value = getattr(crawler.spider, name, None)
    if value is None:
        return crawler.settings.getfloat(setting)
    warn_on_deprecated_spider_attribute(name, setting)
    try:
        # An argument (-a) is text.
        return float(value)
    except (TypeError, ValueError):
        raise BadArgument(name, f"{value!r} is not a number") from None
