"""The registered domain of a host: example.co.uk of www.example.co.uk.

The list of public suffixes is the one bundled with tldextract; it is never fetched.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tldextract import TLDExtract


@lru_cache(maxsize=65_536)
def registered_domain(host: str) -> str:
    """The registered domain, or the host itself when it has none (an address, localhost)."""
    return _extractor().extract_str(host).top_domain_under_public_suffix or host


@cache
def _extractor() -> TLDExtract:
    # It imports requests and urllib3: 40 ms that most crawls don't need.
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None)
