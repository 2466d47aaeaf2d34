"""Spider middlewares with a synchronous ``process_spider_output``.

Scrapy ends with a traceback where a middleware has no asynchronous form of that method, because
callbacks of a CrawlSpider are asynchronous generators. Here such a class gets one: what the
callback yields is collected first, then handed to the synchronous method. If the callback raises,
what it had yielded is handed on all the same, and the exception is raised after it.
"""

from __future__ import annotations

from inspect import isasyncgenfunction
from typing import TYPE_CHECKING, Any

from scrapy.utils.deprecate import argument_is_required
from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy import Spider
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

_SETTING = "SPIDER_MIDDLEWARES"


def complete_middlewares(settings: BaseSettings) -> None:
    """Exchange the classes that are synchronous only."""
    for name, order in settings.getdict(_SETTING).items():
        component = load_object(name)
        if order is not None and isinstance(component, type) and _is_synchronous(component):
            settings.replace_in_component_priority_dict(
                _SETTING, component, with_asynchronous(component), order
            )


def _is_synchronous(component: type) -> bool:
    method = getattr(component, "process_spider_output", None)
    has_asynchronous = hasattr(component, "process_spider_output_async")
    return method is not None and not has_asynchronous and not isasyncgenfunction(method)


def with_asynchronous(component: type) -> type:
    """A subclass with the asynchronous form of ``process_spider_output``."""

    async def process(self: Any, response: Response, result: AsyncIterator[Any]) -> Any:
        outputs, problem = await _collected(result)
        for one in self.process_spider_output(response, outputs):
            yield one
        if problem is not None:
            raise problem

    async def process_with_spider(
        self: Any, response: Response, result: AsyncIterator[Any], spider: Spider
    ) -> Any:
        outputs, problem = await _collected(result)
        for one in self.process_spider_output(response, outputs, spider):
            yield one
        if problem is not None:
            raise problem

    # Scrapy still hands the spider to a method that requires it.
    wants_spider = argument_is_required(component.process_spider_output, "spider")  # type: ignore[attr-defined]
    members = {
        "process_spider_output_async": process_with_spider if wants_spider else process,
        "__module__": component.__module__,
        "__qualname__": component.__qualname__,
        "__doc__": component.__doc__,
    }
    return type(component.__name__, (component,), members)


async def _collected(result: AsyncIterator[Any]) -> tuple[list[Any], Exception | None]:
    """What a callback yields, and what it raises in the end."""
    outputs: list[Any] = []
    try:
        async for one in result:
            outputs.append(one)  # noqa: PERF401 - not all of them, if it raises
    except Exception as error:
        return outputs, error
    return outputs, None
