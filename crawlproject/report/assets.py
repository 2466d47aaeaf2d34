"""The files of the page, which may be in an egg: HTML, style, scripts, and the charts' library.

Scripts are modules that import from each other, so that each can be read by itself. In a file that
opens from disk nothing can be imported: there they are one script, each module in a block of its
own, behind those that it imports from.
"""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files

_MAIN = "report"
_LIBRARY = "vendor/echarts/echarts.min.js"
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:const|function|class) (\w+))", re.MULTILINE)


def template() -> str:
    return _read("page/report.html").decode()


def style() -> bytes:
    return _read("page/report.css")


def script() -> bytes:
    """All modules as one."""
    modules: dict[str, str] = {}
    _load(_MAIN, modules)
    return "\n".join(("const modules = {};", *modules.values())).encode()


def _load(name: str, modules: dict[str, str]) -> None:
    text = _read(f"page/{name}.js").decode()
    for _, other in _IMPORT.findall(text):
        if other not in modules:
            _load(other, modules)
    exports = ", ".join(export for _, export in _EXPORT.findall(text))
    text = _EXPORT.sub(r"\1", _IMPORT.sub(r"const \1 = modules.\2;", text))
    modules[name] = f"{{\n{text}modules.{name} = {{ {exports} }};\n}}"


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
