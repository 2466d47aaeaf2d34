import pytest
from scrapy.http import HtmlResponse, Response

from crawlproject.urls.directives import page_nofollow, product_token, robots_directives


def page(head: str = "", *headers: str) -> HtmlResponse:
    return HtmlResponse(
        "http://example.com/", body=head, encoding="utf-8", headers={"X-Robots-Tag": list(headers)}
    )


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("", set()),
        ("<meta name=robots content='noindex'>", {"noindex"}),
        ("<META NAME=' Robots ' CONTENT='NoIndex , NOFOLLOW,'>", {"noindex", "nofollow"}),
        ("<meta name=robots content=none>", {"noindex", "nofollow"}),
        ("<meta name=robots><meta content=noindex><meta name=robots content>", set()),
        ("<meta name=googlebot content=nofollow>", set()),
        ("<meta name=robots content='max-snippet: 20, all'>", {"max-snippet:20", "all"}),
        ("<meta name=robots content=noindex><meta name=robots content=nofollow>",
         {"noindex", "nofollow"}),
        ("<body><meta name=robots content=nofollow>", {"nofollow"}),
    ],
)  # fmt: skip
def test_meta_robots_is_read(head: str, expected: set[str]) -> None:
    assert robots_directives(page(head)) == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (["noindex"], {"noindex"}),
        (["NoIndex, nofollow"], {"noindex", "nofollow"}),
        (["noindex", "nofollow"], {"noindex", "nofollow"}),
        (["none"], {"noindex", "nofollow"}),
        (["otherbot: noindex, nofollow"], set()),
        (["noarchive, otherbot: noindex, nofollow"], {"noarchive"}),
        (["otherbot: noindex, ourbot: nofollow, noarchive"], {"nofollow", "noarchive"}),
        (["OurBot : none"], {"noindex", "nofollow"}),
        (["robots: noindex"], {"noindex"}),
        (["max-snippet: 10, nofollow"], {"max-snippet:10", "nofollow"}),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST"],
         {"unavailable_after:25 jun 2030 15:00:00 pst"}),
        (["", ",,", ":", "otherbot:"], set()),
        (["\xff: noindex"], set()),
    ],
)  # fmt: skip
def test_header_is_read(headers: list[str], expected: set[str]) -> None:
    assert robots_directives(page("", *headers), "OurBot") == expected


def test_directives_for_the_crawler_add_to_those_for_all() -> None:
    response = page("<meta name=OURBOT content=nofollow>", "noarchive")
    assert robots_directives(response) == {"noarchive"}
    assert robots_directives(response, "ourbot") == {"noarchive", "nofollow"}
    assert page_nofollow(response, "ourbot")
    assert not page_nofollow(response)


def test_response_without_html_has_only_its_header() -> None:
    body = b"<meta name=robots content=noindex>"
    response = Response("http://example.com/a.pdf", body=body, headers={"X-Robots-Tag": "nofollow"})
    assert robots_directives(response) == {"nofollow"}


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("crawlproject/0.1 (+https://crawlproject.example/bot)", "crawlproject"),
        ("acme-audit/1", "acme-audit"),
        ("Mozilla/5.0 (compatible; acmebot/2.1; +https://acme.example)", "acmebot"),
        ("Mozilla/5.0 (X11; Linux)", "Mozilla"),
        ("  my_bot", "my_bot"),
        ("123", "123"),
    ],
)
def test_the_product_token_is_the_name_of_the_crawler(user_agent: str, token: str) -> None:
    assert product_token(user_agent) == token
