from __future__ import annotations

import random
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.frontier.base import Candidate
from crawlproject.frontier.hosts import HostLimits
from crawlproject.scope.traps import Budget, Traps
from crawlproject.urls.canonical import canonicalize, host_of
from tests.crawling import PROJECT
from tests.frontiers import memory_frontier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SITE = "https://example.com"
TOKEN = "8f14e45fceea167a5a36dedd4bea2543"
UUID = "6fa459ea-ee8a-3ca4-894e-db77e160355e"
TRAPS = Traps(max_repeated_segments=3, max_query_params=12, max_pages_per_prefix=300)


# --- what is refused


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/a/a/a",
        "/en/en/page",
        "/2020/01/01/",
        "/11/11/11/11/11",
        "/a/b/a/b/a",
        "/django/django/tree/main/django/contrib/admin/templates/admin",
        "/scrapy/scrapy/tree/master/scrapy",
        "/search?path=/a/a/a/a/a/a",
        "/a//b//c",
    ],
)
def test_a_path_may_repeat_itself_a_little(path: str) -> None:
    assert TRAPS.reason(SITE + path) is None


@pytest.mark.parametrize(
    "path",
    [
        "/a/a/a/a",
        "/a/x/a/y/a/z/a.html/a",
        "/a/b/a/b/a/b",
        "/a/b/a/b/a/b/",
        "/x/y/z/a/b/c/a/b/c",
        "/page/2/page/3/page/4/page/5",
        "/12345/12345/12345/12345",
        "/a//b//c//d//",
        "/a/a/a/a?x=1",
    ],
)
def test_a_path_that_goes_round_in_circles_is_refused(path: str) -> None:
    assert TRAPS.reason(SITE + path) == "repeated path: SCOPE_MAX_REPEATED_SEGMENTS=3"


@pytest.mark.parametrize(
    ("limit", "path", "is_refused"),
    [
        (1, "/a/b", False),
        (1, "/a/b/a", True),
        (1, "/2020/01/01/", False),
        (2, "/a/a", False),
        (2, "/a/b/a/b", True),
        (2, "/a/x/y/b/a/b", False),
        (0, "/a/b" * 50, False),
    ],
)
def test_how_often_a_path_may_repeat_itself_is_a_setting(
    limit: int, path: str, is_refused: bool
) -> None:
    assert (Traps(max_repeated_segments=limit).reason(SITE + path) is not None) is is_refused


@pytest.mark.parametrize(
    ("limit", "url", "is_refused"),
    [
        (2, f"{SITE}/?a=1&b=2", False),
        (2, f"{SITE}/?a=1&b=2&c=3", True),
        (2, f"{SITE}/a&b&c&d?a=1&b=2", False),
        (0, f"{SITE}/?" + "&".join("abcdefghijklmnopqrst"), False),
    ],
)
def test_a_url_with_too_many_parameters_is_refused(limit: int, url: str, is_refused: bool) -> None:
    reason = "too many parameters: SCOPE_MAX_QUERY_PARAMS=2" if is_refused else None
    assert Traps(max_query_params=limit).reason(url) == reason


# --- what shares a budget


def group(url: str, known: Iterable[str] = ()) -> str | None:
    """The group of a URL on a site that has those that are known."""
    there = {canonicalize(other, SITE) for other in known}
    for budget in TRAPS.budgets(canonicalize(url, SITE)):
        if there.issuperset(budget.alone):
            return budget.group.removeprefix("prefix ")
    return None


@pytest.mark.parametrize(
    ("url", "prefix"),
    [
        # days
        ("/cal/2026/11/16/", "/cal/"),
        ("/cal/2026/11/16", "/cal/"),
        ("/cal/2026/11/16.html", "/cal/"),
        ("/cal/2026/11/16/index.html", "/cal/"),
        ("/cal/16/11/2026", "/cal/"),
        ("/cal/2026/nov/16", "/cal/"),
        ("/cal/2026-11-16", "/cal/"),
        ("/cal/16.11.2026/", "/cal/"),
        ("/cal/2026-11/16", "/cal/"),
        ("/cal/20261116", "/cal/"),
        ("/2026/11/16/", "/"),
        ("/cal/2026/11/", "/cal/"),
        ("/cal/2026-11", "/cal/"),
        ("/cal/2026/", "/cal/"),
        ("/cal?month=2026-11", "/cal"),
        ("/cal/2026/11?day=16", "/cal/"),
        ("/cal?date=2026-11-16", "/cal"),
        ("/cal?date=2026-11-16T10:00:00Z", "/cal"),
        ("/cal?date=11/16/2026", "/cal"),
        ("/cal?date=11%2F16%2F2026", "/cal"),
        ("/cal?d=20261116", "/cal"),
        ("/cal?month=2026-11&room=2", "/cal"),
        ("/cal?year=2026&month=11&day=16", "/cal"),
        ("/cal/?y=2026&m=11&d=16", "/cal/"),
        ("/view.php?view=day&time=1794787200", "/view.php?view=day"),
        # months and weeks
        ("/cal?month=11&year=2026", "/cal"),
        ("/cal.php?m=11&y=2026&room=b&lang=en&floor=2", "/cal.php?lang=en"),
        ("/cal?mon=nov&yr=2026", "/cal"),
        ("/cal?year=2026", "/cal"),
        ("/cal?ym=202611", "/cal"),
        ("/cal?month=13", "/cal"),
        ("/cal?week=-3", "/cal"),
        ("/cal/11/2026", "/cal/"),
        ("/cal/01/2026/", "/cal/"),
        ("/cal/nov-2026", "/cal/"),
        ("/cal/November-2026.html", "/cal/"),
        ("/cal/2026-nov/", "/cal/"),
        ("/cal/month-2026-11", "/cal/"),
        ("/cal/day-2026-11-16/", "/cal/"),
        ("/cal?year=2026&week=46", "/cal"),
        ("/cal?week=2026-W46", "/cal"),
        ("/cal/2026-W46/", "/cal/"),
        ("/cal/2026W46/", "/cal/"),
        ("/cal/2026/W46/", "/cal/"),
        ("/cal/2026/week/46/", "/cal/"),
        ("/cal/week/46/2026", "/cal/week/"),
        ("/cal?year=2222&month=1", "/cal"),
        ("/cal?cal_month=11&cal_year=2026", "/cal"),
        ("/cal/2026-9", "/cal/"),
        ("/cal/11-2026/", "/cal/"),
        ("/cal?month=11.2026", "/cal"),
        ("/room/7/2026/11/", "/room/7/"),
        ("/room/7/week/2026/46", "/room/7/"),
        ("/index.php?action=calendar;year=2026;month=11", "/index.php?action=calendar"),
        ("/events/month/2026/11/-", "/events/month/"),
        ("/cal?date=11/16/2026%2012:00:00%20AM", "/cal"),
        ("/cal?do=week&week=1794787200", "/cal?do=week"),
        # views of them
        ("/cal/2026/11/16/week", "/cal/"),
        ("/cal/day/2026/11/16", "/cal/day/"),
        ("/cal/year/2026/month/11/day/16", "/cal/year/"),
        (
            "/index.php?option=com_events&task=day&year=2026&month=11&day=16&Itemid=7",
            "/index.php?Itemid=7&option=com_events&task=day",
        ),
        # facets
        ("/shop?brand=a&color=b&size=c", "/shop"),
        ("/shop;brand=a;color=b;size=c/list", "/shop/list"),
        ("/shop?f[0]=a&f[1]=b&f[2]=c", "/shop"),
        ("/shop?filter=red,small,cheap", "/shop"),
        ("/shop?filter=red%7Csmall%7Ccheap", "/shop"),
        ("/shop/7?brand=a&color=b&size=c", "/shop/7"),
        ("/map?bbox=1.5,2,3,4", "/map"),
        # … of one page, or of a list that is called by a number
        ("/shop/12345?brand=a&color=b&size=c", "/shop/12345"),
        ("/shop?id=12345&brand=a&color=b&size=c", "/shop?id=12345"),
        (f"/item?id={UUID}&a=1&b=2&c=3", f"/item?id={UUID}"),
        ("/room/123456/2026/11/16/", "/room/123456/"),
        # searches
        ("/search?q=red+shoes", "/search"),
        ("/search?page=7&q=red+shoes", "/search"),
        ("/?s=shoes", "/"),
        ("/de/find?lang=de&query=Schuhe", "/de/find?lang=de"),
        # numbers
        ("/2/2/2/2/2", "/2/"),
        ("/a/1/2/3/4", "/a/1/"),
    ],
)
def test_urls_that_can_be_counted_up_share_the_budget_of_their_prefix(
    url: str, prefix: str
) -> None:
    assert group(url) == f"example.com{prefix}"


@pytest.mark.parametrize(
    "url",
    [
        "/",
        "/about",
        "/2026/11/page/2/",
        "/2026/11/16/some-title",
        "/2026/11/16/some-title/?replies=1",
        "/2026/11/16/1234567.html",
        "/2026/11/1234567.html",
        "/2026-11-16-some-title",
        "/viewtopic.php?f=2&t=12345&start=30",
        "/viewtopic.php?f=2&t=123&start=30",
        "/index.php?topic=1234.30&a=1",
        "/thread/12?page=3&sort=up",
        "/board/7/120/3",
        "/user/12/album/34/photo/56",
        "/index.php?option=content&view=article&id=7&catid=3&Itemid=4&lang=en",
        f"/?id=7&tx_news%5Baction%5D=show&tx_news%5Bnews%5D=45&tx_news%5Bday%5D=4&cHash={TOKEN}",
        "/item?id=20261116",
        "/item/202611",
        "/viewtopic.php?f=2&t=1794787",
        "/docs/1.2026",
        "/conference?sess=sess108",
        "/plan?day=365",
        "/list?tag=1234",
        "/comic/2500",
        "/wiki/index.php?title=A;b",
        "/item?nr=202611",
        "/cars?make=a&year=2026",
        "/cars?day=3",
        "/list?m=123",
        "/board/7/1999",
        "/2026/46",
        "/w3/",
        "/day-one",
        "/may-be",
        "/march-2-home",
        "/list-20",
        "/shop?brand=a",
        "/shop/12345?color=b",
        "/index.php?q=node/7",
        "/index.php?s=12",
        "/page?rnd=1",
        "/docs/1.2.3/",
        "/law?cite=26.09.002",
        "/w/index.php?title=Some,_thing,_else,_here&action=history",
        f"/item/{UUID}",
        f"/item?id={UUID}&a=1",
        f"/view?record={UUID}",
        f"/project/tree?commit={TOKEN}",
        f"/report.pdf?v={TOKEN}",
        "/list/",
        "/calendar/today",
        "/a;b=1;c=2/d",
        "/Foo_(bar)/baz",
    ],
)
def test_what_names_a_page_has_no_budget(url: str) -> None:
    assert group(url) is None


@pytest.mark.parametrize(
    ("url", "alone", "prefix"),
    [
        ("/shop?brand=a&color=b", ["/shop?brand=a", "/shop?color=b"], "/shop"),
        ("/shop?color=b&color=c", ["/shop?color=b", "/shop?color=c"], "/shop"),
        (
            "/shop/12345?size=s&color=b",
            ["/shop/12345?size=s", "/shop/12345?color=b"],
            "/shop/12345",
        ),
        (
            "/shop?brand=a&color=b&lang=en",
            ["/shop?brand=a&lang=en", "/shop?color=b&lang=en"],
            "/shop?lang=en",
        ),
        ("/list?tag=a+b", ["/list?tag=a", "/list?tag=b"], "/list"),
        ("/list?tag=a,b", ["/list?tag=a", "/list?tag=b"], "/list"),
        ("/tag/a+b+c", ["/tag/a", "/tag/b", "/tag/c"], "/tag/"),
        ("/tag/a,b/", ["/tag/a/", "/tag/b/"], "/tag/"),
    ],
)
def test_what_can_be_had_alone_has_a_budget_when_it_is_combined(
    url: str, alone: list[str], prefix: str
) -> None:
    assert group(url, alone) == f"example.com{prefix}"
    for one in alone:
        # A city in its state, a name of two words.
        assert group(url, [other for other in alone if other != one]) is None


@pytest.mark.parametrize("url", ["/list?color=b&page=3", "/w/C++", "/list?f=2&start=30", "/a,/"])
def test_pages_of_a_list_and_names_are_no_combinations(url: str) -> None:
    assert TRAPS.budgets(SITE + url) == ()


@pytest.mark.parametrize(
    ("url", "session"),
    [
        (f"/a/b?zenid={TOKEN}", "zenid="),
        (f"/?id=1234567&osCsid={TOKEN[:26]}", "osCsid="),
        (f"/2026/11/16/?s={TOKEN}", "s="),
        ("/a?ref=q7m2k9xw4t8zb3vn5c1p6j0hrd", "ref="),
        ("/a?ref=Zm9vYmFyMTIzNDU2Nzg5MHh5eg%3D%3D", "ref="),
        ("/a?ref=aB3-xY7_Kq9wT2mZ5nL8", "ref="),
        (f"/a?ref={UUID}", "ref="),
        (f"/a;ref={TOKEN}", "ref="),
        (f"/shop/a;ref={TOKEN}/b", "ref="),
        ("/a?rnd=84756", "rnd="),
        ("/a?sess=123456789", "sess="),
        ("/a;sess=1A2B3C4D", "sess="),
        ("/a?_=1794787200123", "_="),
        ("/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "(S(...))"),
    ],
)
def test_urls_with_a_session_share_a_budget_whatever_their_path(url: str, session: str) -> None:
    assert group(url) == f"{session} on example.com"


@pytest.mark.parametrize(
    "value",
    [
        "annual-report-2020-and-2021",
        "review-of-iphone-12-pro-max-2020",
        "annualreport2020financials",
        "International_Standard_Book_Number",
        "%D0%9C%D0%BE%D1%81%D0%BA%D0%B2%D0%B0",
        "some+words+and+24+more",
        "abcdefghijklmnopqrstuvwxyz",
    ],
)
def test_words_are_no_session(value: str) -> None:
    assert group(f"/list?text={value}") is None


def test_a_budget_names_the_setting_and_the_group() -> None:
    assert TRAPS.budgets(f"{SITE}:8080/calendar/2026/11/16/") == (
        Budget(
            "prefix example.com/calendar/",
            300,
            "prefix budget: SCOPE_MAX_PAGES_PER_PREFIX=300 for example.com/calendar/",
            steps=3,
        ),
    )


def test_every_url_draws_on_the_budget_of_its_host() -> None:
    traps = Traps(max_pages_per_host=9, max_pages_per_prefix=3)
    host = Budget("host example.com", 9, "host budget: SCOPE_MAX_PAGES_PER_HOST=9 for example.com")
    assert traps.budgets(f"{SITE}/about") == (host,)
    assert traps.budgets("http://example.com:81/") == (host,)
    assert [budget.pages for budget in traps.budgets(f"{SITE}/?a=1&b=2&c=3")] == [9, 3]
    assert traps.budgets("http://[::1]:80/")[0].group == "host ::1"


def test_without_limits_nothing_is_refused_and_nothing_has_a_budget() -> None:
    url = f"{SITE}/a/a/a/a/a/2026/11/16?zenid={TOKEN}&a=1&b=2&c=3"
    assert Traps().reason(url) is None
    assert Traps().budgets(url) == ()


# --- what a crawl meets


def crawled(seed: str, links_of: Callable[[str], Iterable[str]]) -> list[str]:
    """The pages that a crawl without any other limit fetches."""
    frontier = memory_frontier(
        limits=lambda host: HostLimits(0, 1), budgets=TRAPS.budgets, batch=1_000
    )
    frontier.admit([Candidate(seed)])
    pages = []
    while (lease := frontier.take(0)) is not None:
        pages.append(lease.url)
        urls = [canonicalize(link, lease.url) for link in links_of(lease.url)]
        reasons = TRAPS.reasons_on(lease.url, urls)
        lease.found = [Candidate(url, TRAPS.reason(url) or reasons.get(url)) for url in urls]
        frontier.landed(lease, 0)
        frontier.finish(lease)
    return pages


def pages_of(seed: str, links_of: Callable[[str], Iterable[str]]) -> int:
    return len(crawled(seed, links_of))


@pytest.mark.parametrize(
    "pattern",
    [
        "/cal/%Y/%m/%d/",
        "/cal?date=%Y-%m-%d",
        "/cal?d=%d&m=%m&y=%Y",
        "/cal/%Y%m%d.html",
        "/cal?month=%m&year=%Y",
        "/cal/%m/%Y",
        "/cal/%B-%Y/",
        "/cal?year=%Y&week=%V",
        "/cal/%G-W%V",
    ],
)
def test_an_endless_calendar_ends(pattern: str) -> None:
    days = {f"{SITE}/": date(2026, 11, 16)}

    def links_of(page: str) -> Iterable[str]:
        for step in (-365, -30, -7, -1, 1, 7, 30, 365):
            day = days[page] + timedelta(step)
            link = day.strftime(pattern)
            days[canonicalize(link, page)] = day
            yield link

    assert pages_of(f"{SITE}/", links_of) == 301


@pytest.mark.parametrize("views", [("/d/%Y-%m-%d", "/w/%Y-%m-%d", "/m/%Y-%m"), ("/?d=%Y-%m-%d",)])
def test_the_views_of_a_calendar_do_not_lead_out_of_each_other_for_ever(
    views: tuple[str, ...],
) -> None:
    days = {f"{SITE}/": date(2026, 11, 16)}

    def links_of(page: str) -> Iterable[str]:
        for step in (-365, -30, -7, -1, 0, 1, 7, 30, 365):
            day = days[page] + timedelta(step)
            # Long enough, and a failure has an end.
            for view in views if 2024 <= day.year < 2029 else ():
                link = canonicalize(day.strftime(view), SITE)
                days.setdefault(link, day)
                yield link

    # Each has a budget; what the last of the first steps leads to may be more.
    assert pages_of(f"{SITE}/", links_of) <= 1 + 400 * len(views)


@pytest.mark.parametrize("prefix", ["", "/archive", "/news/en"])
def test_an_archive_has_all_its_days(prefix: str) -> None:
    """By year, month and day, with the days before and after."""
    days = [date(2010, 1, 1) + timedelta(number) for number in range(5 * 365)]
    links: dict[str, dict[str, None]] = {}
    for day in days:
        way = ["", *(day.strftime(f"{prefix}/{part}") for part in ("%Y", "%Y/%m", "%Y/%m/%d"))]
        for page, link in pairwise([*way, f"{way[-1]}/story"]):
            links.setdefault(f"{SITE}{page}/", {})[f"{link}/"] = None
        for step in (-1, 1):
            near = day + timedelta(step)
            links[f"{SITE}{way[-1]}/"][near.strftime(f"{prefix}/%Y/%m/%d/")] = None
    pages = set(crawled(f"{SITE}/", lambda page: links.get(page, ())))
    assert set(links) <= pages
    # But neither the day before the archive nor the one after it.
    assert len(pages) == len(links) + len(days)


def test_facets_end() -> None:
    def links_of(page: str) -> Iterable[str]:
        chosen = dict(param.split("=") for param in page.partition("?")[2].split("&") if param)
        for facet in ("brand", "color", "price", "size"):
            for value in range(10):
                params = {**chosen, facet: str(value)}
                yield "/shop?" + "&".join(f"{key}={params[key]}" for key in params)

    # All of one facet, and 300 of the others.
    assert pages_of(f"{SITE}/shop", links_of) == 1 + 40 + 300


def test_sessions_in_every_link_end() -> None:
    chance = random.Random(7)

    def links_of(page: str) -> Iterable[str]:
        session = f"{chance.getrandbits(128):032x}"
        return [f"/page-{number}?zen={session}" for number in range(20)]

    assert pages_of(f"{SITE}/", links_of) == 301


@pytest.mark.parametrize("count", [1, 2, 3, 5, 10, 17])
@pytest.mark.parametrize("seed", [f"{SITE}/", f"{SITE}/x/y/", f"{SITE}/x/y/index.html"])
@pytest.mark.parametrize(
    "link", ["{}/", "./{}/", "{}/index.html", "{}/b", "{}/b/", "../{}/b/c.html", "{}/?a=1"]
)
def test_paths_that_grow_end(seed: str, link: str, count: int) -> None:
    links = [link.format(f"a{number}") for number in range(count)]
    assert pages_of(seed, lambda page: links) <= 4 + count + count**2


@pytest.mark.parametrize(
    ("links", "pages"),
    [(["a/"], 4), (["a/b/"], 2), (["a/", "b/"], 7), (["a/", "b/", "c/"], 13)],
)
@pytest.mark.parametrize("seed", [f"{SITE}/", f"{SITE}/x/y/"])
def test_how_far_paths_grow(seed: str, links: list[str], pages: int) -> None:
    assert pages_of(seed, lambda page: links) == pages


def test_a_page_for_every_path_with_links_that_go_on_from_it_ends() -> None:
    def links_of(page: str) -> Iterable[str]:
        return [f"{page.removesuffix('/')}/{name}" for name in ("login", "about", "us", "jobs")]

    assert pages_of(f"{SITE}/", links_of) == 1 + 4 + 16


def test_numbers_that_grow_end() -> None:
    assert pages_of(f"{SITE}/", lambda page: ["1/", "2/", "3/"]) < 1_000


# --- laws

SEGMENTS = st.one_of(
    st.text("abcdef0123456789-._~!$&'()*+,;=:@%", max_size=12),
    st.sampled_from(["2026", "11", "16", "2026-11-16", "day", "nov", "12345", "1.html", ";a=1"]),
)
PARAMS = st.one_of(
    st.text("abcdef0123456789-._~!$()*+,;=:@/?%[]|", max_size=40),
    st.builds(
        "{}={}".format,
        st.sampled_from(["id", "date", "time", "a", "s", "view", "x%5By%5D", "[", "%5B", ""]),
        st.sampled_from(["1", "12345", "2026-11-16", "20261116", TOKEN, "", "a,b,c", "99999999"]),
    ),
)
PATHS = st.lists(SEGMENTS, max_size=9).map("/".join)
QUERIES = st.lists(PARAMS, max_size=16).map("&".join)


def a_url(path: str, query: str) -> str:
    return canonicalize(f"{SITE}/{path}?{query}")


@given(PATHS, QUERIES)
def test_every_url_has_an_answer(path: str, query: str) -> None:
    url = a_url(path, query)
    reason = TRAPS.reason(url)
    assert reason is None or "SCOPE_MAX" in reason
    for budget in TRAPS.budgets(url):
        assert budget.pages == 300
        assert host_of(url) in budget.group
        assert budget.reason.startswith("prefix budget: SCOPE_MAX_PAGES_PER_PREFIX=300 for ")


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="#")))
def test_no_text_after_the_host_is_too_odd(rest: str) -> None:
    TRAPS.reason(f"{SITE}/{rest}")
    TRAPS.budgets(f"{SITE}/{rest}")


@given(PATHS, QUERIES)
def test_the_same_url_is_always_in_the_same_group(path: str, query: str) -> None:
    url = a_url(path, query)
    fresh = Traps(max_pages_per_prefix=300)
    assert TRAPS.budgets(url) == TRAPS.budgets(url) == fresh.budgets(url)


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)), st.sampled_from(["%Y/%m/%d", "%Y%m%d"]))
def test_every_day_is_in_the_group_of_its_calendar(day: date, spelling: str) -> None:
    assert group("/cal/" + day.strftime(spelling)) == "example.com/cal/"
    assert group("/cal?day=" + day.strftime(spelling)) == "example.com/cal"


# A number that is neither small nor, with eight digits, a date.
IDS = st.integers(10_000, 10**15).filter(lambda number: len(str(number)) != 8).map(str)


@given(QUERIES, IDS, st.sampled_from(["/shop/{}", "/shop/{}.html", "/shop?nr={}"]))
def test_what_is_called_by_an_id_shares_its_budget_with_nothing_else(
    query: str, number: str, spelling: str
) -> None:
    page = spelling.format(number)
    url = canonicalize(f"{SITE}{page}{'&' if '?' in page else '?'}{query}")
    # A session has a group of its own.
    assert all(
        number in budget.group or " on example.com" in budget.group for budget in TRAPS.budgets(url)
    )


@given(PATHS)
def test_a_name_at_the_end_of_a_path_is_in_no_group(path: str) -> None:
    url = a_url(f"{path.replace(';', '')}/some-title", "")
    assert TRAPS.budgets(url) == ()


def test_the_settings_are_documented_where_the_reasons_send_the_reader() -> None:
    settings = (PROJECT / "docs" / "settings.md").read_text()
    for reason in (
        TRAPS.reason(f"{SITE}/a/a/a/a"),
        TRAPS.reason(f"{SITE}/?{'&'.join('abcdefghijklm')}"),
        TRAPS.budgets(f"{SITE}/?a=1&b=2&c=3")[0].reason,
        Traps(max_pages_per_host=1).budgets(SITE + "/")[0].reason,
    ):
        assert reason is not None
        name = reason.partition(": ")[2].partition("=")[0]
        assert f"`{name}`" in settings
