"""``scrapy runspider FILE``: the spider of a file; options and exit status as of ``crawl``."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.spiderloader import DummySpiderLoader
from scrapy.utils.spider import iter_spider_classes

from crawlproject.commands import crawl
from crawlproject.commands.single import override
from crawlproject.errors import BadArgument

if TYPE_CHECKING:
    import argparse
    from types import ModuleType

    from scrapy import Spider


class Command(crawl.Command):
    name = "runspider"
    requires_project = False
    default_settings: ClassVar[dict[str, Any]] = {"SPIDER_LOADER_CLASS": DummySpiderLoader}

    def syntax(self) -> str:
        return "[options] <spider_file>"

    def short_desc(self) -> str:
        return "Run a spider from a Python file, no project required"

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        override(self.settings, self.default_settings)
        super().process_options(args, opts)

    def _spider_class(self, args: list[str]) -> type[Spider]:
        if not args:
            raise BadArgument("spider_file", "missing: give a Python file with a spider in it")
        path = Path(args[0])
        if path.suffix not in {".py", ".pyw"} or not path.is_file():
            raise BadArgument("spider_file", f"{args[0]!r} is not a Python file that is there")
        found = list(iter_spider_classes(_imported(path)))
        if not found:
            raise BadArgument("spider_file", f"{args[0]!r} has no class of a spider with a name")
        return found[-1]


def _imported(path: Path) -> ModuleType:
    """The module of a file, which may import its neighbours. Raises BadArgument."""
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        spec.loader.exec_module(module)
    except (ImportError, SyntaxError) as error:
        raise BadArgument("spider_file", f"can't load {str(path)!r}: {error}") from None
    return module
