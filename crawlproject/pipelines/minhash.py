"""Signatures of a crawl for a team's own use of datasketch.

    from datasketch import MinHashLSH
    from crawlproject.pipelines.minhash import as_minhash, stored_signatures

    index = MinHashLSH(threshold=0.85, num_perm=128)
    for signature in stored_signatures("crawls/example"):
        index.insert(signature.url, as_minhash(signature))

``jaccard`` of two results is right, and all indexes of datasketch accept them, as long as they have
equal parameters. With ``DUPLICATES_BACKEND="datasketch"`` they are what datasketch itself makes of
the same shingles (``shingles_of``), and can be mixed with those. With the builtin backend they can
not: the values are the smallest of ranges, not of permutations. They have a seed of their own, so
that ``jaccard``, ``merge`` and ``union`` with other signatures raise ValueError; an index does not
check that. ``count``, ``merge`` and ``union`` among builtin ones mean nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy.utils.project import get_project_settings

from crawlproject.frontier.reading import IS_PAGE, Reader
from crawlproject.frontier.source import source_of
from crawlproject.pages.shingles import Shingles
from crawlproject.pages.signatures import DATASKETCH
from crawlproject.pages.signatures.datasketch import SCHEME, SEED
from crawlproject.pages.words import words_of
from crawlproject.pipelines.parameters import NOTE, SignatureParameters

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from datasketch import LeanMinHash

# Seed of builtin signatures, plus the words of a shingle: what can't be compared has other seeds.
BUILTIN_SEED = 0x6275_0000


class StoredSignature(NamedTuple):
    url: str
    value: bytes
    parameters: SignatureParameters


def stored_signatures(crawl: str | PathLike[str]) -> Iterator[StoredSignature]:
    """Of all pages of a crawl that have one, by URL. ``crawl``: its JOBDIR, or redis://…

    The crawl may be running. Raises crawlproject.errors.BadInput.
    """
    with source_of(str(crawl), get_project_settings()).opened() as database:
        parameters = SignatureParameters.from_note(Reader(database).note(NOTE))
        if parameters is None:
            return
        signatures = parameters.signatures()
        for url, value in database.execute(
            "SELECT url, signature FROM contents JOIN urls u USING (id) JOIN pages p USING (id) "  # noqa: S608
            f"WHERE signature IS NOT NULL AND {IS_PAGE} ORDER BY url"
        ):
            # A crawl directory may have been written by anybody.
            if signatures.is_signature(value):
                yield StoredSignature(url, value, parameters)


def as_minhash(signature: StoredSignature) -> LeanMinHash:
    from datasketch import LeanMinHash

    parameters = signature.parameters
    is_builtin = parameters.backend != DATASKETCH
    return LeanMinHash(
        seed=BUILTIN_SEED + parameters.shingle_words if is_builtin else SEED,
        hashvalues=parameters.signatures().values(signature.value),
        scheme=SCHEME,
    )


def shingles_of(text: str, shingle_words: int = 3) -> set[bytes]:
    """What ``MinHash.update_batch`` takes to sign a text as the datasketch backend does."""
    words = words_of(text)
    return Shingles(words, shingle_words).texts() if words.count >= shingle_words else set()
