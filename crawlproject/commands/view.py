"""``scrapy view URL``: open a response in the browser, as this project fetches it."""

from __future__ import annotations

from scrapy.commands import view

from crawlproject.commands import fetch


class Command(fetch.Command, view.Command):
    pass
