"""The options of the service: as the code has them, in scrapyd.conf, and in the docs."""

from __future__ import annotations

import re
from configparser import ConfigParser
from dataclasses import fields

from scrapyd.config import Config

from crawlproject.service.options import SECTION, Options, options_from
from tests.crawling import PROJECT


def conf() -> ConfigParser:
    config = ConfigParser()
    config.read(PROJECT / "scrapyd.conf")
    return config


def test_scrapyd_conf_has_every_option_with_its_default() -> None:
    config = Config({})
    config.cp = conf()
    assert options_from(config) == Options()
    assert set(conf()[SECTION]) == {field.name for field in fields(Options)}


def test_the_docs_have_every_option_with_its_default() -> None:
    text = (PROJECT / "docs/operations.md").read_text()
    part = text.partition("### Options of the service")[2].partition("###")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (?:`(.*?)`)? ?\|", part, re.MULTILINE))
    assert rows == dict(conf()[SECTION])


def test_every_part_that_scrapyd_conf_names_is_there() -> None:
    from scrapy.utils.misc import load_object

    config = conf()
    named = [*config["services"].values(), *config["scrapyd"].values()]
    ours = [name for name in named if name.startswith("crawlproject.service.")]
    assert len(ours) >= 12
    for name in ours:
        if name != "crawlproject.service.runner":
            load_object(name)
