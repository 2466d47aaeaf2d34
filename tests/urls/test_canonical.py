from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from w3lib.url import canonicalize_url

from crawlproject.urls.canonical import (
    Canonicalizer,
    NotCrawlable,
    canonicalize,
    host_of,
    resolve,
)

SITE = "http://example.com"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        # scheme, host, port
        ("HTTP://EXAMPLE.com", f"{SITE}/"),
        ("http://example.com.", f"{SITE}/"),
        ("http://example.com.:80/a", f"{SITE}/a"),
        ("http://example.com:80/", f"{SITE}/"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("http://example.com:0080/", f"{SITE}/"),
        ("http://example.com:8080", f"{SITE}:8080/"),
        ("http://example.com:/", f"{SITE}/"),
        ("http://user:secret@example.com/", f"{SITE}/"),
        ("http://a@b@example.com:81/", f"{SITE}:81/"),
        ("http://münchen.de/", "http://xn--mnchen-3ya.de/"),
        ("http://faß.de/", "http://xn--fa-hia.de/"),
        ("http://例え。テスト/", "http://xn--r8jz45g.xn--zckzah/"),
        ("http://ｅｘａｍｐｌｅ.com/", f"{SITE}/"),
        ("http://ex%61mple.com/", f"{SITE}/"),
        ("http://my_host-1.example.com/", "http://my_host-1.example.com/"),
        ("http://localhost:6800/", "http://localhost:6800/"),
        # addresses
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0177.0.0.1/", "http://127.0.0.1/"),
        ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
        ("http://u@[2001:DB8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
        # path
        ("http://example.com/a/./b/../c", f"{SITE}/a/c"),
        ("http://example.com/a/%2e%2E/b", f"{SITE}/b"),
        ("http://example.com/../../a", f"{SITE}/a"),
        ("http://example.com//a//", f"{SITE}//a//"),
        ("http://example.com/Case", f"{SITE}/Case"),
        ("http://example.com/%7euser/%41%2D", f"{SITE}/~user/A-"),
        ("http://example.com/é", f"{SITE}/%C3%A9"),
        ("http://example.com/%c3%a9", f"{SITE}/%C3%A9"),
        ("http://example.com/%e9", f"{SITE}/%E9"),
        ("http://example.com/a b|c[d]^`{}", f"{SITE}/a%20b%7Cc%5Bd%5D%5E%60%7B%7D"),
        ("http://example.com/a%2fb%3f%23%25%3B", f"{SITE}/a%2Fb%3F%23%25%3B"),
        ("http://example.com/%zz%", f"{SITE}/%25zz%25"),
        ("http://example.com/%%34%31", f"{SITE}/%2541"),
        ("http://example.com/a;v=1,2:@!$&'()*+=", f"{SITE}/a;v=1,2:@!$&'()*+="),
        # query
        ("http://example.com/?", f"{SITE}/"),
        ("http://example.com?b=1&a=2", f"{SITE}/?a=2&b=1"),
        ("http://example.com/?b=2&a=2&b=1&a=1", f"{SITE}/?a=2&a=1&b=2&b=1"),
        ("http://example.com/?&&a=1&&", f"{SITE}/?a=1"),
        ("http://example.com/?a", f"{SITE}/?a"),
        ("http://example.com/?a=", f"{SITE}/?a="),
        ("http://example.com/?a=1&a&a=", f"{SITE}/?a=1&a&a="),
        ("http://example.com/?=x", f"{SITE}/?=x"),
        ("http://example.com/?q=a+b%2Bc%20d e", f"{SITE}/?q=a+b%2Bc%20d%20e"),
        ("http://example.com/?q=%26%3d%25&Q=K", f"{SITE}/?Q=K&q=%26%3D%25"),
        ("http://example.com/?a[]=1&u=http://x/?y", f"{SITE}/?a%5B%5D=1&u=http://x/?y"),
        ("http://example.com/?q='\"<>é", f"{SITE}/?q=%27%22%3C%3E%C3%A9"),
        # fragment, white space, slashes
        ("http://example.com/a#b?c=d", f"{SITE}/a"),
        ("http://example.com/#", f"{SITE}/"),
        (" \x00\n http://example.com/a \x1f", f"{SITE}/a"),
        ("ht\ntp://exam\tple.com/a\r\nb", f"{SITE}/ab"),
        ("http:\\\\example.com\\a\\..\\b", f"{SITE}/b"),
        ("http:////example.com/", f"{SITE}/"),
        ("http:example.com", f"{SITE}/"),
        ("http://example.com/\ud800", f"{SITE}/%EF%BF%BD"),
    ],
)
def test_url_has_one_spelling(url: str, expected: str) -> None:
    assert canonicalize(url) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?utm_source=x", ""),
        ("?UTM_Campaign=x&id=1", "?id=1"),
        ("?id=1&gclid=2&fbclid=3&msclkid=4&dclid=5&yclid=6", "?id=1"),
        ("?mc_cid=1&mc_eid=2&igshid=3&_ga=4", ""),
        ("?PHPSESSID=1&jsessionid=2&sid=3&sessionid=4&ASPSESSIONIDQQ=5&a=6", "?a=6"),
        ("?u%74m_source=1", ""),
        ("?utm=1&side=2&my_sid=3", "?my_sid=3&side=2&utm=1"),
        ("?redirect=utm_source", "?redirect=utm_source"),
        (";jsessionid=1A2B!x?b=1", "?b=1"),
        (";JSESSIONID=1", ""),
        (";sid=1;v=2;sid=3", ";v=2"),
        (";sid=1/next", "/next"),
        (";sid", ";sid"),
        (";v=sid=1", ";v=sid=1"),
        ("%3Bsid=1", "%3Bsid=1"),
    ],
)
def test_tracking_parameters_are_dropped(query: str, expected: str) -> None:
    assert canonicalize(f"{SITE}/a{query}") == f"{SITE}/a{expected}"


def test_session_of_a_dot_segment_stays_because_the_path_would_change() -> None:
    assert canonicalize(f"{SITE}/a/..;sid=1/b") == f"{SITE}/a/..;sid=1/b"
    assert canonicalize(f"{SITE}/a/%2e;sid=1") == f"{SITE}/a/.;sid=1"
    assert canonicalize(f"{SITE}/;sid=1") == f"{SITE}/"


def test_tracking_parameters_can_be_chosen() -> None:
    chosen = Canonicalizer(["ref", "x[y*", "é"])
    assert chosen(f"{SITE}/;sid=1?REF=1&utm_id=2&x[yz]=3&%C3%A9=4") == f"{SITE}/;sid=1?utm_id=2"
    assert Canonicalizer([])(f"{SITE}/?sid=1&utm_id=2") == f"{SITE}/?sid=1&utm_id=2"
    assert Canonicalizer(["*"])(f"{SITE}/?a=1&b=2") == f"{SITE}/"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.com/", "https://example.com/"),
        ("https://example.com/", "https://example.com/"),
        ("http://example.com:8080/a?b", "https://example.com:8080/a?b"),
        ("http://example.com:443/", "https://example.com/"),
        ("http://[::1]:443/", "https://[::1]/"),
    ],
)
def test_joined_schemes_are_written_as_https(url: str, expected: str) -> None:
    assert Canonicalizer(join_schemes=True)(url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("d", f"{SITE}/b/d"),
        ("/d", f"{SITE}/d"),
        ("../d", f"{SITE}/d"),
        ("?d=1", f"{SITE}/b/c?d=1"),
        ("#d", f"{SITE}/b/c?q=1"),
        ("", f"{SITE}/b/c?q=1"),
        ("//Other.org/d", "http://other.org/d"),
        ("\\\\other.org\\d", "http://other.org/d"),
        ("https://other.org", "https://other.org/"),
        ("a:b", None),
        ("./a:b", f"{SITE}/b/a:b"),
        ("d\ud800", f"{SITE}/b/d%EF%BF%BD"),
    ],
)
def test_relative_url_is_read_against_its_base(url: str, expected: str | None) -> None:
    base = f"{SITE}/b/c?q=1"
    if expected is None:
        with pytest.raises(NotCrawlable):
            canonicalize(url, base)
    else:
        assert canonicalize(url, base) == expected


def test_absolute_url_needs_no_valid_base() -> None:
    assert canonicalize("http://example.com", "about:blank") == f"{SITE}/"
    assert canonicalize("http://example.com", "no base") == f"{SITE}/"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("mailto:me@example.com", "its scheme is mailto"),
        ("javascript:alert(1)", "its scheme is javascript"),
        ("data:text/html,x", "its scheme is data"),
        ("file:///etc/passwd", "its scheme is file"),
        ("ftp://example.com/", "its scheme is ftp"),
        ("blob:http://example.com/x", "its scheme is blob"),
        ("httpx://example.com/", "its scheme is httpx"),
        ("example.com", "no scheme; write https://"),
        ("", "no scheme"),
        ("/a", "no scheme"),
        ("http://", "host or port is not valid"),
        ("http:///", "host or port is not valid"),
        ("http://exa mple.com/", "host or port is not valid"),
        ("http://example.com:65536/", "host or port is not valid"),
        ("http://example.com:8o/", "host or port is not valid"),
        ("http://[::1/", "host or port is not valid"),
        ("http://1.2.3.256/", "host or port is not valid"),
        ("http://%2f/", "host or port is not valid"),
        ("http://example.com:0/", "port 0"),
        ("http://a..b/", "no host name"),
        ("http://./", "no host name"),
        ("http://example.com../", "no host name"),
        ("http://*.example.com/", "no host name"),
        ("http://a,b.com/", "no host name"),
        (f"http://{'a' * 64}.com/", "no host name"),
        (f"http://{'.'.join(['a' * 60] * 5)}/", "no host name"),
    ],
)
def test_what_is_not_crawlable_is_refused_with_the_reason(url: str, reason: str) -> None:
    with pytest.raises(NotCrawlable, match=reason) as caught:
        canonicalize(url)
    assert repr(url[:50])[:-1] in str(caught.value)


def test_relative_url_with_a_useless_base_names_the_base() -> None:
    with pytest.raises(NotCrawlable, match="base 'about:blank'"):
        canonicalize("a", "about:blank")


def test_refusal_of_a_long_and_odd_url_is_short_and_printable() -> None:
    with pytest.raises(NotCrawlable) as caught:
        canonicalize("x:\n\u202e\ud800" * 10_000)
    assert len(str(caught.value)) < 1_000
    assert str(caught.value).isprintable()


def test_what_is_no_text_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError):
        canonicalize(b"http://example.com/")  # type: ignore[arg-type]


def test_long_url_is_not_refused_here() -> None:
    url = f"{SITE}/{'a' * 10_000}?{'b' * 10_000}"
    assert canonicalize(url) == url


@pytest.mark.parametrize(
    "path",
    ["", "/a%7eb", "/café", "/a/../b", "/a%2fb", "/%25", "/?b=2&a=1", "/?a[]=1", "/?x=%e9", "/a?#f",
     "/?a=%26", "/?q=1+2", "/?a=1&&b=2", "/%E6%B8%AC", "/A?B=C", "/x;v=1"],
)  # fmt: skip
def test_agrees_with_w3lib_where_w3lib_keeps_the_meaning(path: str) -> None:
    assert canonicalize(SITE + path) == canonicalize_url(SITE + path)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://example.com/a:b@c", "example.com"),
        ("https://example.com:8080/", "example.com"),
        ("http://[::1]/", "::1"),
        ("http://[2001:db8::1]:81/x", "2001:db8::1"),
        ("http://127.0.0.1:6800/", "127.0.0.1"),
    ],
)
def test_host_has_no_port_and_no_brackets(url: str, host: str) -> None:
    assert host_of(url) == host


def test_resolve_keeps_what_canonicalize_drops() -> None:
    assert resolve("../x?b&a#f", f"{SITE}/a/b/c") == f"{SITE}/a/x?b&a#f"
    with pytest.raises(NotCrawlable):
        resolve("mailto:x", SITE)


SPACED = (
    "http:// https:// HTTP: http://// https:\\\\ // / \\ . .. %2e %2E%2e "
    ";jsessionid=1 ;sid= ;SID=2 ; a A é ß % %4 %41 %%34%31 %25 %2F %zz ? & && = a= + %2B %20 # "
    "@ u:p@ : :80 :443 :0 :8080 :99999 [::1] [::ffff:1.2.3.4] 0x7f.1 2130706433 1.2.3.4 "
    "example.com EXAMPLE.com. xn-- xn--a 例え.テスト \u00ad \u200d \u3002 ﬁ 😀 \ud800 \udc00 "
    "| ^ ` { } [ ] ' \" < > ~ %7e _ - * ! $ , ( ) utm_source=x sid=1 b=2 a=1 javascript:"
)
PIECES = st.sampled_from([*SPACED.split(" "), " ", "\t", "\n", "\0", "\x7f"])
NASTY = st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join)
HOSTS = st.sampled_from(["example.com", "xn--r8jz45g", "[::1]", "1.2.3.4"]) | st.text(min_size=1)
URLS = NASTY | st.text() | st.builds("http://{}{}".format, HOSTS, NASTY)
CANONICALIZERS = st.sampled_from(
    [canonicalize, Canonicalizer(join_schemes=True), Canonicalizer(tracking_params=[])]
)


@given(URLS, st.none() | st.just(f"{SITE}/a/b?c") | URLS, CANONICALIZERS)
def test_canonical_url_is_its_own_canonical_url(
    url: str, base: str | None, canonicalizer: Canonicalizer
) -> None:
    try:
        canonical = canonicalizer(url, base)
    except NotCrawlable:
        return
    assert canonicalizer(canonical) == canonical
    assert canonicalizer(canonical, "https://elsewhere.org/x/y") == canonical
    # What is asked for is what is remembered.
    assert Request(canonical).url == canonical
    assert canonical.isascii()
    assert "#" not in canonical
    assert host_of(canonical)


NAMES = st.text("aZ09_~-.", min_size=1, max_size=3)
PLAIN_PATHS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "/", "../"]),
    st.lists(NAMES, min_size=1, max_size=4).map("/".join),
    st.sampled_from(["", "/"]),
)


@given(PLAIN_PATHS, URLS | st.builds(f"{SITE}{{}}".format, NASTY), CANONICALIZERS)
def test_plain_path_is_read_as_any_other_url(
    url: str, base: str, canonicalizer: Canonicalizer
) -> None:
    try:
        absolute = resolve(url, base)
    except NotCrawlable:
        with pytest.raises(NotCrawlable):
            canonicalizer(url, base)
        return
    try:
        expected = canonicalizer(absolute)
    except NotCrawlable:
        with pytest.raises(NotCrawlable):
            canonicalizer(url, base)
    else:
        assert canonicalizer(url, base) == expected


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=8))
def test_order_between_names_does_not_count_and_within_a_name_does(
    params: list[tuple[str, int]],
) -> None:
    by_name = sorted(params, key=lambda param: param[0])
    written = ["&".join(f"{name}={value}" for name, value in some) for some in (params, by_name)]
    assert canonicalize(f"{SITE}/?{written[0]}") == canonicalize(f"{SITE}/?{written[1]}")
    assert canonicalize(f"{SITE}/?{written[0]}").partition("?")[2] == written[1]


@given(st.binary(min_size=1, max_size=20))
def test_escapes_mean_the_same_bytes_afterwards(data: bytes) -> None:
    escaped = "".join(f"%{byte:02x}" for byte in data)
    query = canonicalize(f"{SITE}/?q={escaped}").partition("?q=")[2]
    assert unquote_to_bytes(query) == data
