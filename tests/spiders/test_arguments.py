from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from crawlproject.errors import BadArgument
from crawlproject.spiders import arguments

if TYPE_CHECKING:
    from pathlib import Path


def project_settings(**given: Any) -> Settings:
    settings = Settings()
    settings.setmodule("crawlproject.settings", priority="project")
    settings.setdict(given, priority="cmdline")
    return settings


def applied(given: dict[str, str], **settings: Any) -> Settings:
    result = project_settings(**settings)
    arguments.apply({"seed": "https://example.com/", **given}, result)
    return result


@pytest.mark.parametrize(
    ("argument", "value", "setting", "expected"),
    [
        ("depth", "3", "DEPTH_LIMIT", 3),
        ("depth", "none", "DEPTH_LIMIT", 0),
        ("depth", "0", "SCOPE_SEEDS_ONLY", True),
        ("depth", "1", "SCOPE_SEEDS_ONLY", False),
        ("max_pages", "100", "SCOPE_MAX_PAGES", 100),
        ("timeout", "90", "CLOSESPIDER_TIMEOUT", 90),
        ("timeout", "30s", "CLOSESPIDER_TIMEOUT", 30),
        ("timeout", "2m", "CLOSESPIDER_TIMEOUT", 120),
        ("timeout", "1.5h", "CLOSESPIDER_TIMEOUT", 5400),
        ("scope", "domain", "SCOPE_MODE", "domain"),
        ("allow", "a.com, B.org", "SCOPE_ALLOW", ["a.com", "b.org"]),
        ("allow", "bücher.de", "SCOPE_ALLOW", ["xn--bcher-kva.de"]),
        ("include", r"/blog/\d+", "SCOPE_INCLUDE", [r"/blog/\d+"]),
        ("exclude", r"\?", "SCOPE_EXCLUDE", [r"\?"]),
        ("delay", "0.5", "DOWNLOAD_DELAY", 0.5),
        ("rate", "4", "POLITENESS_RATE", 4.0),
        ("concurrency", "3", "CONCURRENT_REQUESTS_PER_DOMAIN", 3),
        ("workers", "64", "CONCURRENT_REQUESTS", 64),
        (
            "user_agent",
            "mybot/1 (+https://me.example)",
            "USER_AGENT",
            "mybot/1 (+https://me.example)",
        ),
        ("respect_nofollow", "no", "URLS_RESPECT_NOFOLLOW", False),
        ("_job", "abc", "SCOPE_MODE", "host"),
    ],
)
def test_an_argument_is_the_shortcut_of_a_setting(
    argument: str, value: str, setting: str, expected: object
) -> None:
    assert applied({argument: value}).get(setting) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"depth": "-1"}, "depth: '-1' is not a number of links"),
        ({"depth": "two"}, "depth: 'two' is not a number of links (0 = the seeds only) or 'none'"),
        ({"depth": "²"}, "depth: '²' is not a number of links"),
        ({"max_pages": "0"}, "max_pages: '0' is not a whole number of 1 or more"),
        ({"max_pages": "1.5"}, "max_pages: '1.5' is not a whole number"),
        ({"timeout": "soon"}, "timeout: 'soon' is not a time such as 90, 30s, 2m or 1h"),
        ({"timeout": "-3"}, "timeout: '-3' is not a time"),
        ({"scope": "planet"}, "scope: 'planet' is not one of host, domain, any"),
        ({"allow": "https://a.com"}, "allow: 'https://a.com' is not a host such as example.com"),
        ({"allow": "*.a.com"}, "allow: '*.a.com' is not a host"),
        ({"include": "("}, "include: '(' is not a regular expression: "),
        ({"exclude": "[z-a]"}, "exclude: '[z-a]' is not a regular expression: "),
        ({"delay": "-1"}, "delay: '-1' is not a number of seconds"),
        ({"delay": "nan"}, "delay: 'nan' is not a number of seconds"),
        ({"rate": "0"}, "rate: '0' is not a number of requests a second above 0"),
        ({"concurrency": "0"}, "concurrency: '0' is not a whole number of 1 or more"),
        ({"workers": "many"}, "workers: 'many' is not a whole number"),
        ({"user_agent": " "}, "user_agent: ' ' is not a line of text"),
        ({"user_agent": "a\r\nX: y"}, "user_agent: 'a\\r\\nX: y' is not a line of text"),
        ({"respect_nofollow": "maybe"}, "respect_nofollow: 'maybe' is not 'yes' or 'no'"),
        ({"dept": "3"}, "dept: no such argument; did you mean depth?"),
        ({"maxpages": "3"}, "maxpages: no such argument; did you mean max_pages?"),
        ({"zzz": "3"}, "zzz: no such argument; there are seed, seeds_file"),
    ],
)
def test_a_bad_argument_is_named_with_what_would_be_right(
    given: dict[str, str], message: str
) -> None:
    with pytest.raises(BadArgument) as caught:
        applied(given)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("DEPTH_LIMIT", "two"),
        ("CLOSESPIDER_TIMEOUT", "soon"),
        ("SCOPE_MODE", "planet"),
        ("SCOPE_INCLUDE", "("),
        ("DOWNLOAD_DELAY", "x"),
        ("DOWNLOAD_TIMEOUT", "x"),
        ("SCOPE_MAX_PAGES", "-1"),
        ("RETRY_TIMES", "x"),
        ("POLITENESS_MAX_HOLD_SECONDS", "-1"),
        # A setting that there was.
        ("POLITENESS_ROBOTS_ATTEMPTS", "3"),
        ("POLITENESS_ROBOTS_MAX_AGE_SECONDS", "a day"),
        ("POLITENESS_ROBOTS_UNREACHABLE_SECONDS", "inf"),
        ("MONITORING_SNAPSHOT_FILE", " "),
        ("MONITORING_SNAPSHOT_SECONDS", "0"),
        ("METRICS_PORT", "banana"),
        ("METRICS_PORT", "65536"),
        ("METRICS_ADDRESS", " "),
    ],
)
def test_the_same_checks_hold_for_settings(setting: str, value: str) -> None:
    with pytest.raises(BadArgument, match=setting):
        applied({}, **{setting: value})


def test_a_crawl_that_visits_for_ever_does_not_visit_never() -> None:
    with pytest.raises(BadArgument, match=r"recrawl: never, and RECRAWL_CONTINUOUS"):
        applied({"recrawl": "never"}, RECRAWL_CONTINUOUS="yes")


def test_settings_given_as_strings_become_values() -> None:
    settings = applied(
        {}, CLOSESPIDER_TIMEOUT="2m", SCOPE_ALLOW="a.com b.com", DEPTH_LIMIT="none", SEEDS=""
    )
    assert settings.getfloat("CLOSESPIDER_TIMEOUT") == 120
    assert settings.getlist("SCOPE_ALLOW") == ["a.com", "b.com"]
    assert settings.getint("DEPTH_LIMIT") == 0


def test_an_argument_wins_over_the_setting() -> None:
    assert applied({"depth": "2"}, DEPTH_LIMIT="5").getint("DEPTH_LIMIT") == 2


@pytest.mark.parametrize(
    ("value", "seeds"),
    [
        ("https://a.com", ["https://a.com/"]),
        ("https://a.com,https://b.com/x", ["https://a.com/", "https://b.com/x"]),
        ("https://a.com https://b.com\nhttps://a.com/", ["https://a.com/", "https://b.com/"]),
        ("https://a.com/x,y", ["https://a.com/x,y"]),
        ("https://a.com/, ", ["https://a.com/"]),
        ("HTTPS://A.com:443/?utm_source=x#top", ["https://a.com/"]),
    ],
)
def test_seeds_are_separated_by_white_space_or_commas(value: str, seeds: list[str]) -> None:
    assert arguments.apply({"seed": value}, project_settings()) == seeds


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "seed: missing: give a URL, as in -a seed=https://example.com"),
        (" , ", "seed: missing"),
        ("ftp://x", "seed: not a crawlable URL: 'ftp://x': its scheme is ftp, not http or https"),
        ("not a url", "seed: not a crawlable URL: 'not': it has no scheme"),
        (
            "https://exa mple.com/",
            "seed: 'mple.com/' has no scheme: did you mean https://mple.com/",
        ),
        ("example.com", "seed: 'example.com' has no scheme: did you mean https://example.com ?"),
        ("https://a.com,b.com", "seed: 'https://a.com,b.com': give every seed its own http://"),
        (
            "localhost:8000",
            "seed: 'localhost:8000' has no scheme: did you mean http://localhost:8000",
        ),
        ("http://me:secret@a.com/", "seed: a name and password in the URL would be in every"),
        ("javascript:alert(1)", "seed: not a crawlable URL: 'javascript:alert(1)'"),
        ("http://", "seed: not a crawlable URL: 'http://'"),
    ],
)
def test_a_bad_seed_is_named(value: str, message: str) -> None:
    with pytest.raises(BadArgument) as caught:
        arguments.apply({"seed": value}, project_settings())
    assert str(caught.value).startswith(message)


def test_no_seed_at_all_is_an_error() -> None:
    with pytest.raises(BadArgument, match="seed: missing"):
        arguments.apply({}, project_settings())


def test_seeds_file_holds_one_a_line_with_comments(tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text("# mine\nhttps://a.com/ # the first\n\n  https://b.com/#top\nhttps://a.com\n")
    given = {"seed": "https://c.com/", "seeds_file": str(path)}
    assert arguments.apply(given, project_settings()) == [
        "https://c.com/",
        "https://a.com/",
        "https://b.com/",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "can't read"),
        (b"", "holds no URL: it must hold one a line"),
        (b"# nothing\n\n", "holds no URL"),
        (b"\x7fELF\x00\x01\xff", "is not a text file"),
        (b"\xff\xfe\xfa", "is not a text file"),
        (b"https://a.com\nnope\n", "line 2: not a crawlable URL: 'nope'"),
        (b"https://a.com/x y\n", "line 1: 'https://a.com/x y' holds a space: write it as %20"),
    ],
)
def test_a_bad_seeds_file_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "seeds.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadArgument, match="seeds_file") as caught:
        arguments.apply({"seeds_file": str(path)}, project_settings())
    assert message in str(caught.value)


def test_a_loopback_crawl_is_fast_unless_the_user_says_otherwise() -> None:
    settings = project_settings()
    arguments.apply({"seed": "http://127.0.0.1:8000/"}, settings)
    assert settings.getfloat("DOWNLOAD_DELAY") == 0
    settings = project_settings(DOWNLOAD_DELAY="0.5")
    arguments.apply({"seed": "http://localhost/"}, settings)
    assert settings.getfloat("DOWNLOAD_DELAY") == 0.5
    settings = project_settings()
    arguments.apply({"seed": "http://localhost/ https://example.com/"}, settings)
    assert settings.getfloat("DOWNLOAD_DELAY") > 0


@pytest.mark.parametrize(
    ("given", "settings", "delay", "concurrency", "target"),
    [
        ({}, {}, 0.25, 2, 1),
        ({"concurrency": "4"}, {}, 0.25, 4, 4),
        ({"concurrency": "1"}, {}, 0.25, 1, 1),
        ({"concurrency": "4"}, {"AUTOTHROTTLE_TARGET_CONCURRENCY": "0.5"}, 0.25, 4, 0.5),
        # A rate takes the place of the default delay, and makes use of the concurrency.
        ({"rate": "10"}, {}, 0, 2, 2),
        ({"rate": "10", "concurrency": "4"}, {}, 0, 4, 4),
        ({"rate": "10", "delay": "1"}, {}, 1, 2, 2),
        ({}, {"POLITENESS_RATE": "10"}, 0, 2, 2),
        ({}, {"POLITENESS_RATE": "0"}, 0.25, 2, 1),
    ],
)
def test_what_is_not_set_follows_what_is(
    given: dict[str, str],
    settings: dict[str, str],
    delay: float,
    concurrency: int,
    target: float,
) -> None:
    found = applied(given, **settings)
    assert found.getfloat("DOWNLOAD_DELAY") == delay
    assert found.getint("CONCURRENT_REQUESTS_PER_DOMAIN") == concurrency
    assert found.getfloat("AUTOTHROTTLE_TARGET_CONCURRENCY") == target


@pytest.mark.parametrize("given", [{"delay": "0.5"}, {"rate": "5"}])
def test_a_loopback_crawl_with_a_delay_or_a_rate_is_treated_as_any_other(
    given: dict[str, str],
) -> None:
    here, elsewhere = project_settings(), project_settings()
    arguments.apply({"seed": "http://127.0.0.1/", **given}, here)
    arguments.apply({"seed": "https://example.com/", **given}, elsewhere)
    for name in (
        "DOWNLOAD_DELAY",
        "CONCURRENT_REQUESTS_PER_DOMAIN",
        "AUTOTHROTTLE_ENABLED",
        "AUTOTHROTTLE_TARGET_CONCURRENCY",
    ):
        assert here[name] == elsewhere[name]


def test_a_crawl_that_waits_for_its_seeds_is_not_taken_for_one_of_this_machine() -> None:
    settings = project_settings(REDIS_URL="redis://127.0.0.1/0", FRONTIER_WAIT_FOR_SEEDS="True")
    assert arguments.apply({}, settings) == []
    assert settings.getfloat("DOWNLOAD_DELAY") > 0


@pytest.mark.parametrize(
    ("unit", "hosts", "message"),
    [
        ("planet", {}, "POLITENESS_HOST: 'planet' is not one of hostname, domain"),
        ("hostname", "x", '\'x\' is not an object such as {"example.com": {"delay": 2}}'),
        ("hostname", "[1]", "'[1]' is not an object such as"),
        ("hostname", "[" * 100_000, "is not an object such as"),
        ("hostname", {"a.com": 3}, "'3' for a.com is not an object such as {\"delay\": 2}"),
        ("hostname", {"a.com": {"dealy": 2}}, "'dealy' for a.com is not one of delay, concurrency"),
        ("hostname", {"a.com": {"delay": -1}}, "delay for a.com: '-1' is not a number of seconds"),
        ("hostname", {"a.com": {"delay": None}}, "delay for a.com: 'None' is not a number"),
        ("hostname", {"a.com": {"concurrency": 0}}, "concurrency for a.com: '0' is not a whole"),
        ("hostname", {"a.com": {"rate": 0}}, "rate for a.com: '0' is not a number of requests a"),
        ("hostname", {"http://a.com": {}}, "'http://a.com' is not a host such as example.com"),
        ("domain", {"www.a.com": {"delay": 2}}, "'www.a.com' is part of a.com: POLITENESS_HOST is"),
    ],
)
def test_a_bad_exception_for_a_host_is_named(unit: str, hosts: object, message: str) -> None:
    with pytest.raises(BadArgument) as caught:
        applied({}, POLITENESS_HOST=unit, POLITENESS_HOSTS=hosts)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_exceptions_for_hosts_count_for_scrapys_own_fence_too() -> None:
    settings = applied(
        {},
        POLITENESS_HOSTS='{"Example.COM": {"delay": "2", "concurrency": 3}, "a.com": {"rate": 4}}',
        DOWNLOAD_SLOTS={"other.com": {"delay": 1}, "a.com": {"jitter": 0.5}},
    )
    exceptions = {"example.com": {"delay": 2, "concurrency": 3}, "a.com": {"rate": 4}}
    assert settings.getdict("POLITENESS_HOSTS") == exceptions
    assert settings.getdict("DOWNLOAD_SLOTS") == {
        "example.com": {"delay": 2, "concurrency": 3},
        "other.com": {"delay": 1},
        # Scrapy's slots have no rate, but their delay counts from start to start.
        "a.com": {"delay": 0.25, "jitter": 0.5},
    }


@pytest.mark.parametrize(
    ("slots", "message"),
    [
        ({"a.com": {"throttle": 1}}, "'throttle' for a.com is not one of delay, concurrency, "),
        ({"a.com": {"concurrency": "no"}}, "concurrency for a.com: 'no' is not a whole number"),
    ],
)
def test_a_bad_download_slot_is_named(slots: object, message: str) -> None:
    with pytest.raises(BadArgument) as caught:
        applied({}, DOWNLOAD_SLOTS=slots)
    assert message in str(caught.value)


def test_a_password_goes_to_the_seeds_origin_and_nowhere_else() -> None:
    assert applied({}, HTTPAUTH_USER="me").get("HTTPAUTH_DOMAIN") == "https://example.com"
    assert (
        applied({}, HTTPAUTH_USER="me", HTTPAUTH_DOMAIN="x.com").get("HTTPAUTH_DOMAIN") == "x.com"
    )
    assert applied({}).get("HTTPAUTH_DOMAIN") is None


def test_several_patterns_can_be_given_as_a_json_list() -> None:
    settings = applied({"include": '["/a/", "/b/"]', "exclude": "[xyz]"})
    assert settings.getlist("SCOPE_INCLUDE") == ["/a/", "/b/"]
    assert settings.getlist("SCOPE_EXCLUDE") == ["[xyz]"]


@pytest.mark.parametrize(
    ("given", "syntaxes"),
    [
        (["json-ld"], ["json-ld"]),
        ([], []),
        ("", []),
        ("[]", []),
        ("RDFa, json-ld rdfa", ["rdfa", "json-ld"]),
        ('["microdata"]', ["microdata"]),
    ],
)
def test_syntaxes_of_structured_data_are_a_list(given: object, syntaxes: list[str]) -> None:
    settings = applied({}, PAGES_STRUCTURED_DATA=given)
    assert settings.getlist("PAGES_STRUCTURED_DATA") == syntaxes


@pytest.mark.parametrize("given", ["jsonld", ["jsonld"], '["jsonld"]', ["json-ld", "jsonld"]])
def test_an_unknown_syntax_of_structured_data_is_named(given: object) -> None:
    with pytest.raises(BadArgument) as caught:
        applied({}, PAGES_STRUCTURED_DATA=given)
    assert str(caught.value) == (
        "PAGES_STRUCTURED_DATA: 'jsonld' is not one of json-ld, microdata, rdfa"
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"POLITENESS_RESOLVER": "bind"}, "'bind' is not one of c-ares, system"),
        ({"POLITENESS_NAME_SERVERS": "dns.example"}, "'dns.example' is not the address of a name"),
        ({"POLITENESS_MAX_LOOKUPS": "0"}, "'0' is not a whole number of 1 or more"),
        ({"DNS_TIMEOUT": "0"}, "DNS_TIMEOUT: 0 is no time at all"),
        ({"DNSCACHE_ENABLED": "maybe"}, "DNSCACHE_ENABLED: 'maybe'"),
        ({"POLITENESS_DNS_NEGATIVE_SECONDS": "x"}, "'x' is not a number of seconds"),
        (
            {"POLITENESS_DNS_MIN_TTL_SECONDS": 10, "POLITENESS_DNS_MAX_TTL_SECONDS": 5},
            "POLITENESS_DNS_MIN_TTL_SECONDS: 10 is more than POLITENESS_DNS_MAX_TTL_SECONDS=5",
        ),
        (
            {"POLITENESS_RESOLVER": "system", "POLITENESS_NAME_SERVERS": "127.0.0.1"},
            "POLITENESS_NAME_SERVERS: the system has its own: leave out one, or say c-ares",
        ),
    ],
)
def test_settings_of_names_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgument, match=re.escape(message)):
        applied({}, **settings)


def test_name_servers_are_a_list_of_addresses_with_ports() -> None:
    settings = applied({}, POLITENESS_NAME_SERVERS="192.0.2.53, [2001:db8::53]:5353")
    assert settings["POLITENESS_NAME_SERVERS"] == ["192.0.2.53:53", "[2001:db8::53]:5353"]
