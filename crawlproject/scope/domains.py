"""The registered domain of a host: example.co.uk of www.example.co.uk.

The list of public suffixes is the one bundled with tldextract; it is never fetched.
"""

from __future__ import annotations

from functools import lru_cache

from tldextract import TLDExtract

_extract = TLDExtract(suffix_list_urls=(), cache_dir=None)


@lru_cache(maxsize=65_536)
def registered_domain(host: str) -> str:
    """The registered domain, or the host itself when it has none (an address, localhost)."""
    return _extract.extract_str(host).top_domain_under_public_suffix or host
