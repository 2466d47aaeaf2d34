"""Scrapy's CookiesMiddleware, without a request to a third party.

To refuse cookies for a public suffix such as ``co.uk``, the middleware uses tldextract, which
downloads the list of suffixes when it is first needed: outside the downloader, while all else
waits. The package brings a list, and that one is used here.
"""

from __future__ import annotations

from scrapy.downloadermiddlewares import cookies
from tldextract import TLDExtract


def use_bundled_suffixes() -> None:
    """Exchange the extractor of Scrapy's module, which takes no other from outside."""
    cookies._split_domain = TLDExtract(suffix_list_urls=(), include_psl_private_domains=True)
