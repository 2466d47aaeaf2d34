"""Letters in the query of a link, in the charset of its page. *Pure.*

Browsers escape what is not ASCII in a path as UTF-8, but in a query in the charset of the page
(the URL standard has it so, for the servers of old sites): on a page in windows-1251 ``?q=я`` is
``?q=%FF``. A letter that the charset does not have becomes a reference, ``&#1103;``, escaped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote_from_bytes

if TYPE_CHECKING:
    from webencodings import Encoding

_FOREIGN = re.compile(r"[^\x00-\x7f]+")
# In these, browsers write UTF-8, as does who resolves the link.
_AS_UTF_8 = frozenset({"utf-8", "utf-16le", "utf-16be", "replacement"})


def with_query_in(encoding: Encoding, href: str) -> str:
    if encoding.name in _AS_UTF_8:
        return href
    url, sharp, fragment = href.partition("#")
    location, mark, query = url.partition("?")

    def escaped(letters: re.Match[str]) -> str:
        coded, _ = encoding.codec_info.encode(letters[0], "xmlcharrefreplace")
        return quote_from_bytes(coded, safe="")

    return f"{location}{mark}{_FOREIGN.sub(escaped, query)}{sharp}{fragment}"
