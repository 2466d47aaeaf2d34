"""The files of the page, which may be in an egg: HTML, style, scripts, and the charts' library.

Scripts are modules that import from each other, so that each can be read by itself. In a file that
opens from disk nothing can be imported: there they are one script, in this order.
"""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files

_SCRIPTS = (
    *("dom", "words", "unpack", "data", "place", "csv", "rows", "filters", "details", "table"),
    *("colours", "charts", "shape", "sections", "report"),
)
_LIBRARY = "vendor/echarts/echarts.min.js"
_IMPORT = re.compile(r"^import\b[^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def template() -> str:
    return _read("page/report.html").decode()


def style() -> bytes:
    return _read("page/report.css")


def script() -> bytes:
    """All modules as one."""
    modules = (_read(f"page/{name}.js").decode() for name in _SCRIPTS)
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", text)) for text in modules).encode()


def library() -> bytes:
    """Apache ECharts, as it is."""
    return _read(_LIBRARY)


def policy(*, scripts: tuple[bytes, ...], styles: tuple[bytes, ...]) -> str:
    """What the page may do: run these scripts, show itself, and nothing else. No network."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_source, scripts))}",
            f"style-src {' '.join(map(_source, styles))}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _source(content: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}'"


def _read(name: str) -> bytes:
    place = files(__package__ or "")
    for part in name.split("/"):
        place = place / part
    return place.read_bytes()
