"""Which values are secret, and what is left of a text without them."""

from __future__ import annotations

import json
import logging
import pprint
from io import StringIO
from typing import Any

import pytest
from scrapy.settings import default_settings

from crawlproject import redaction
from crawlproject import settings as ours
from crawlproject.redaction import (
    SECRETS,
    CleanRecord,
    Redactor,
    is_secret,
    redacted,
    secrets_in,
    without_passwords,
)


@pytest.mark.parametrize(
    "name",
    [
        *("HTTPAUTH_PASS", "FTP_PASSWORD", "MAIL_PASS", "TELNETCONSOLE_PASSWORD", "http_pass"),
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "SCRAPYD_PASSWORD"),
        *(
            "Authorization",
            "Proxy-Authorization",
            "Cookie",
            "X-Api-Key",
            "X-Auth-Token",
            "password",
        ),
        *("accessKey", "clientSecret", "apiKey", "ssl_password", "GITHUB_TOKEN", "DB_CREDENTIALS"),
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)


def test_no_other_setting_is_a_secret() -> None:
    known = {name for name in (*vars(default_settings), *vars(ours)) if name.isupper()}
    assert {name for name in known if is_secret(name)} == {
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
        *("FTP_PASSWORD", "HTTPAUTH_PASS", "MAIL_PASS", "TELNETCONSOLE_PASSWORD"),
        *("FETCHING_HEADERS", "FETCHING_COOKIES"),
    }
    for name in ("PWD", "OLDPWD", "SSH_ASKPASS", "AWS_WEB_IDENTITY_TOKEN_FILE", "User-Agent"):
        assert not is_secret(name)


@pytest.mark.parametrize(
    ("name", "value", "secrets"),
    [
        ("HTTPAUTH_PASS", "hidden", ["hidden"]),
        ("HTTPAUTH_PASS", b"hidden", ["hidden"]),
        ("REDIS_URL", "redis://:hidden@h:1/0", ["hidden"]),
        ("REDIS_URL", "redis://hidden@h:1/0", ["hidden"]),
        ("REDIS_URL", "redis://h:1/0?db=0&password=hidden", ["hidden"]),
        ("http_proxy", "http://me:a@b@proxy:8080", ["a@b"]),
        ("STORE_URI", "s3://key:hidden@bucket/x", ["hidden", "key"]),
        ("FEEDS", {"ftp://me:hidden@h/x.json": {"format": "json"}}, ["hidden"]),
        ("FEEDS", '{"ftp://me:hidden@h/x.json": {"format": "json"}}', ["hidden"]),
        ("REDIS_PARAMS", {"password": "hidden", "db": 1}, ["hidden"]),
        ("REDIS_PARAMS", '{"password": "hidden"}', ["hidden"]),
        ("DEFAULT_REQUEST_HEADERS", {"Cookie": ["a=hidden"]}, ["a=hidden"]),
        (
            "DEFAULT_REQUEST_HEADERS",
            {"Authorization": "Bearer hidden-word"},
            ["Bearer hidden-word", "hidden-word"],
        ),
        # A page that is to be crawled is no secret, nor is what only looks like one.
        ("SEEDS", ["https://h/?token=x"], []),
        ("USER_AGENT", "bot (+https://h/~me; me@h)", []),
        ("STORE_URI", "https://h/@me/x", []),
        ("REDIS_PARAMS", "{broken", []),
        ("DEPTH_LIMIT", 3, []),
    ],
)
def test_secrets_of_a_setting(name: str, value: Any, secrets: list[str]) -> None:
    assert [secret for secret in secrets_in({name: value}) if secret] == secrets
    shown = json.dumps(redacted({name: value if type(value) is not bytes else "hidden"}))
    assert "hidden" not in shown


def test_every_spelling_is_found() -> None:
    secret = 'it\'s a "p@ss/wörd" of some length, which pprint breaks at its spaces\\'
    settings = {"HTTPAUTH_USER": "me", "HTTPAUTH_PASS": secret, "OTHER": "x"}
    redactor = Redactor()
    redactor.learn(settings)
    for text in (secret, repr(settings), pprint.pformat(settings), json.dumps(settings)):
        cleaned = redactor.clean(text)
        assert "***" in cleaned
        assert "spaces" not in cleaned
    redactor.learn({"REDIS_URL": "redis://:p%40ss-word@h"})
    assert redactor.clean("AUTH p@ss-word, p%40ss-word") == "AUTH ***, ***"
    # Too short to be told from other text.
    redactor.learn({"HTTPAUTH_PASS": "abc"})
    assert redactor.clean("abcdef") == "abcdef"
    assert redacted({"HTTPAUTH_PASS": "abc", "x": "abc"}) == {"HTTPAUTH_PASS": "***", "x": "abc"}


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("at http://me:x@h/p?q and ftp://me@h", "at http://***@h/p?q and ftp://me@h"),
        ("'s3://a:b@c/d'", "'s3://***@c/d'"),
        ("me@h, https://h/@me, //h/x@y", "me@h, https://h/@me, //h/x@y"),
    ],
)
def test_urls_are_shown_without_user_and_password(text: str, cleaned: str) -> None:
    assert without_passwords(text) == cleaned


def test_log_records_and_tracebacks_are_clean() -> None:
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    SECRETS.learn({"TOKEN": "hidden-word"})
    try:
        raise ValueError("no hidden-word here")
    except ValueError as error:
        problem = (type(error), error, error.__traceback__)
    record = CleanRecord(
        "x", logging.INFO, "file.py", 1, "%s and %s", ("a", "hidden-word"), problem
    )
    record.stack_info = "Stack (hidden-word)"
    handler.handle(record)
    assert record.getMessage() == "a and ***"
    assert "ValueError: no *** here" in stream.getvalue()
    assert "Stack (***)" in stream.getvalue()
    assert "hidden-word" not in stream.getvalue().replace('"no hidden-word here"', "")


def test_an_exception_that_nobody_catches_is_shown_clean(
    capsys: pytest.CaptureFixture[str],
) -> None:
    SECRETS.learn({"TOKEN": "hidden-word"})
    error = ValueError("no hidden-word here")
    redaction._show_exception(type(error), error, None)
    assert capsys.readouterr().err == "ValueError: no *** here\n"
