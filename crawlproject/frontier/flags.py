"""Keys of Scrapy's that the project sets in the meta of a request, such as ``dont_redirect``.

Who copies the meta of a response into another request (``meta=response.meta``) copies what was only
meant for that one. So these keys are taken back before a response gets to the spider, and are left
out of a request that has them all the same: an errback may have copied them. What a user has set
stays.

Meta keys: writes and removes ``set_by_frontier``, ``taken_back`` (the names of such keys).
"""

from __future__ import annotations

from typing import Any

Meta = dict[str, Any]

SET_BY_FRONTIER = "set_by_frontier"
_TAKEN_BACK = "taken_back"


def set_flags(meta: Meta, *names: str) -> None:
    """Set keys to True, unless the user has set them."""
    ours = tuple(name for name in names if name not in meta)
    meta.update(dict.fromkeys(ours, True))
    meta[SET_BY_FRONTIER] = (*meta.get(SET_BY_FRONTIER, ()), *ours)


def take_back(meta: Meta) -> None:
    """Remove the flags. ``restore`` sets them again."""
    names = meta.pop(SET_BY_FRONTIER, ())
    if names:
        for name in names:
            meta.pop(name, None)
        meta[_TAKEN_BACK] = names


def restore(meta: Meta) -> None:
    """Set flags again that were taken back: the same request is going to be made once more."""
    if names := meta.pop(_TAKEN_BACK, ()):
        set_flags(meta, *names)


def leave_out(meta: Meta) -> None:
    """Remove the flags of another request."""
    take_back(meta)
    meta.pop(_TAKEN_BACK, None)
