"""What rendering needs on this machine: the extra's packages, and a browser.

Both are looked for before the first request. A browser of another machine needs no path
(scrapy-playwright's PLAYWRIGHT_CDP_URL, PLAYWRIGHT_CONNECT_URL).
"""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.utils.misc import load_object

from crawlproject.errors import BadArgument
from crawlproject.extras import how_to_install

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

NEVER, AUTO, ALWAYS = MODES = ("never", "auto", "always")

PACKAGES = ("scrapy_playwright", "playwright")
BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("headless_shell", "microsoft-edge"),
)
_ELSEWHERE = ("PLAYWRIGHT_CDP_URL", "PLAYWRIGHT_CONNECT_URL")
_PLAIN = "crawlproject.fetching.handler.HttpDownloadHandler"
_HANDLER = "crawlproject.render.handler.RenderingDownloadHandler"


def prepare(settings: BaseSettings) -> None:
    """Have pages rendered, if that is wanted; raise BadArgument if it can't be."""
    if settings["RENDER_MODE"] == NEVER:
        return
    if not all(map(find_spec, PACKAGES)):
        raise BadArgument(
            "render",
            f"needs packages that are not installed: {how_to_install('render')}; "
            "and a Chromium (on Debian: apt-get install chromium)",
        )
    browser_path(settings)
    handlers = settings.getdict("DOWNLOAD_HANDLERS")
    for scheme in ("http", "https"):
        handler = load_object(handlers[scheme])
        if handler is load_object(_PLAIN):
            handlers[scheme] = _HANDLER
        elif not issubclass(handler, load_object(_HANDLER)):
            raise BadArgument(
                "render", f"{handlers[scheme]} in DOWNLOAD_HANDLERS fetches without a browser"
            )
    settings.set("DOWNLOAD_HANDLERS", handlers, priority="cmdline")


def is_elsewhere(settings: BaseSettings) -> bool:
    """Whether the browser is one that somebody else has started."""
    return any(settings.get(name) for name in _ELSEWHERE)


def browser_path(settings: BaseSettings) -> str | None:
    """Where the browser is; None: on another machine."""
    if is_elsewhere(settings):
        return None
    if path := settings["RENDER_BROWSER_PATH"]:
        found = shutil.which(str(Path(str(path)).expanduser()))
        if found is None:
            raise BadArgument("RENDER_BROWSER_PATH", f"{str(path)!r} is no program")
        return found
    for name in BROWSERS:
        if (found := shutil.which(name)) is not None:
            return found
    raise BadArgument(
        "render",
        "needs a Chromium, and there is none by the name of chromium, google-chrome or the like: "
        "install it (on Debian: apt-get install chromium), or say where it is in "
        "RENDER_BROWSER_PATH",
    )
