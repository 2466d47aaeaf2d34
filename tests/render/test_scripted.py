"""Which pages are empty without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.http import HtmlResponse

from crawlproject.render.scripted import is_scripted
from tests.commands.inquiring import Crawl

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = "<script src=/app.js></script>"
TEXT = "<p>" + "Tulips are planted in autumn. " * 12 + "</p>"
NAVIGATION = "".join(f"<a href=/page/{number}>{number}</a>" for number in range(6))


def response(body: str) -> HtmlResponse:
    return HtmlResponse("http://a.example/", body=body.encode(), encoding="utf-8")


@pytest.mark.parametrize(
    "body",
    [
        f"<div id=root></div>{SCRIPT}",
        f"<div id=app>Loading …</div>{SCRIPT}",
        f"<div id=__next><div class=spinner></div></div>{SCRIPT}",
        f"<app-root>Please wait</app-root>{SCRIPT}",
        f"<html ng-app><body><div ng-view></div>{SCRIPT}",
        # Something around the place of the application.
        f"<header>Acme</header><div id=root></div><footer>© Acme, since 1950</footer>{SCRIPT}",
        f"<div id=root></div><a href=#top>Up</a><a href=javascript:void(0)>Menu</a>{SCRIPT}",
        f"<body><noscript>You need to enable JavaScript to run this app.</noscript>{SCRIPT}",
        f"<body><p>Shop</p><noscript><p>Bitte <b>Javascript</b> einschalten</noscript>{SCRIPT}",
        f"<shop-front></shop-front>{SCRIPT}",
        "<script type=module>import './app.js'</script>",
        f"<title>Acme</title><style>a {{}}</style>{SCRIPT}",
        "<body><script>document.write(make())</script></body>",
        "<p>You are being redirected</p><script>window.location.href = '/en/'</script>",
        "<p>Moved.</p><SCRIPT>location.replace('/new')</SCRIPT>",
    ],
)
def test_a_page_that_waits_for_its_scripts_is_scripted(body: str) -> None:
    assert is_scripted(response(body))


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<p>Hello",
        "<div id=root></div>",
        # Ordinary short pages, with a script that counts visitors.
        f"<h1>Thank you</h1><p>Your order has arrived.</p>{SCRIPT}",
        f"<img src=/poster.jpg>{SCRIPT}",
        f"<form action=/login><input name=user></form>{SCRIPT}",
        f"<iframe src=/map></iframe>{SCRIPT}",
        # Much text, or many links.
        f"{TEXT}{SCRIPT}",
        f"<div id=root>{TEXT}</div>{SCRIPT}",
        f"<div id=root></div>{TEXT}{SCRIPT}",
        f"<div id=root></div>{NAVIGATION}{SCRIPT}",
        f"<body><noscript>Some things need JavaScript.</noscript>{TEXT}{SCRIPT}",
        # … in a language that has no spaces.
        f"<div id=app><p>{'郁金香在秋天种植然后在春天开花' * 3}</p></div>{SCRIPT}",
        # What a server has made, little as it is.
        f"<div id=root><h1>News</h1><a href=/one>One</a></div>{SCRIPT}",
        # It leads elsewhere without a script.
        f"<meta http-equiv=Refresh content='0; url=/en/'>{SCRIPT}",
        # Data is no script.
        "<script type=application/ld+json>{}</script>",
        "<div id=root></div><script type=application/json>{}</script>",
        "<p>One</p><script>if (location == home) count()</script>",
        f"<x-button>Buy this lovely watering can now</x-button>{SCRIPT}",
        "<frameset><frame src=/a></frameset><script></script>",
    ],
)
def test_a_page_that_has_something_to_say_is_not(body: str) -> None:
    assert not is_scripted(response(body))


def test_a_page_that_is_nested_without_end_is_judged_too() -> None:
    assert is_scripted(response("<div id=root></div>" + "<div>" * 50_000 + SCRIPT))


def test_pages_that_were_rendered_are_counted_for_the_next_run(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", "/a", "/b", rendered=True)
    # A lone surrogate is kept in another way.
    crawl.fetch("/a", rendered=True, title="\ud800")
    crawl.fetch("/b", title='"rendered":true')
    crawl.frontier.commit()
    assert crawl.frontier.read().count_rendered() == 2
    crawl.close()
