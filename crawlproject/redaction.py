"""Secrets: which values are secret, and text without them.

A value is secret by the name of its setting, argument, header or variable (``is_secret``), or
because it is the password of a URL. ``SECRETS`` holds the secrets of this process, taken from its
settings and its environment. Log records, tracebacks and error messages leave them out, and with
them whatever would act on a terminal.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import traceback
from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote

from crawlproject.printable import loggable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

HIDDEN = "***"
# Characters. A shorter value is hidden by its name only: it would be found in any text.
_SHORTEST = 4
_NAME = re.compile(
    r"(?:^|[_. -])(?:pass|passwd|password|passphrase|secret|token|credentials?|cookie|"
    r"authorization|header|(?:api|access|account|private)[_-]?key)(?:$|[_. -](?!file$|path$|dir$))",
    re.IGNORECASE,
)
_HEADERS = ("authorization", "cookie", "header")
# Headers of which each value is a secret, as far as it is more than a word.
_ALL_SECRET = frozenset({"FETCHING_HEADERS", "FETCHING_COOKIES"})
_PARTS = re.compile(r"[\s;,=]+")
# Characters of a part that is more than a word such as Bearer.
_LONG = 8
_MENTION = re.compile("pass|secret|token|key|cookie|auth", re.IGNORECASE)
_WORD_END = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Between the scheme and the host of a URL; a password may hold an @.
_USERINFO = re.compile(r"(?<=:)//([^/?#\s'\"]+)@")
_PASSWORD = re.compile(r"(?<=:)//[^/?#\s'\":@]*:[^/?#\s'\"]*@")
# Their URLs are pages: what is in a query is part of the page's name, and in every output.
_PAGES = frozenset({"SEEDS", "seed", "SEEDS_FILE", "seeds_file"})
_QUERY = re.compile(r"\?([^\s'\"#]+)")


@lru_cache(maxsize=1024)
def is_secret(name: str) -> bool:
    """Whether a setting, an argument, a header or a variable of this name holds a secret."""
    return name in _ALL_SECRET or _NAME.search(_WORD_END.sub("_", name)) is not None


def may_hold_secret(text: str) -> bool:
    """Whether a text that can't be read, such as broken JSON, may hold a secret."""
    return _MENTION.search(text) is not None or "@" in text


def without_passwords(text: str) -> str:
    """The same with users and passwords cut out of its URLs; a user alone stays."""
    return _PASSWORD.sub(f"//{HIDDEN}@", text) if "@" in text else text


def secrets_in(value: Any, name: str = "") -> Iterator[str]:
    """The secrets in a setting: a text, or mappings and lists of texts, also as JSON."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _of_urls(str(key), name)
            yield from secrets_in(inner, str(key))
            if name in _ALL_SECRET and len(str(inner)) >= _LONG:
                yield str(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from secrets_in(inner, name)
    elif isinstance(value, str):
        if is_secret(name):
            yield value
            if name.lower().endswith(_HEADERS):
                # What is in it: 'Bearer …', 'name=…; name=…'.
                yield from (part for part in _PARTS.split(value) if len(part) >= _LONG)
        written = _json(value)
        if written is not None:
            yield from secrets_in(written, name)
        else:
            yield from _of_urls(value, name)


def _json(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _of_urls(text: str, name: str) -> Iterator[str]:
    for userinfo in _USERINFO.findall(text):
        user, _, password = userinfo.partition(":")
        # A user alone may be meant as the password, and with one it may be the id of a key.
        yield from (password or user, user if text.startswith("s3:") else "")
    if "=" in text and "://" in text and name not in _PAGES:
        for query in _QUERY.findall(text):
            pairs = parse_qsl(query)
            yield from (value for option, value in pairs if is_secret(option))


def redacted(value: Any, name: str = "") -> Any:
    """A copy of texts, mappings and lists of texts, without their secrets."""
    found = Redactor()
    found.learn(value, name=name)
    return _without(value, name, found)


def _without(value: Any, name: str, found: Redactor) -> Any:
    if isinstance(value, Mapping):
        if name in _ALL_SECRET:
            return dict.fromkeys(value, HIDDEN)
        return {
            found.clean(key) if isinstance(key, str) else key: _without(inner, str(key), found)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_without(inner, name, found) for inner in value]
    if not isinstance(value, str):
        return value
    return HIDDEN if value and is_secret(name) else found.clean(value)


class Redactor:
    """Knows some secrets, and takes them out of texts."""

    def __init__(self) -> None:
        self._spellings: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def learn(self, *sources: Any, name: str = "") -> None:
        """Add the secrets of mappings such as settings and the environment."""
        before = len(self._spellings)
        for source in sources:
            for secret in secrets_in(source, name):
                if len(secret) >= _SHORTEST:
                    self._spellings.update(_spellings(secret))
            self._spellings.update(_authorizations(source))
        if len(self._spellings) > before:
            # Longest first: one secret may be the beginning of another.
            ordered = sorted(self._spellings, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(_tolerant, ordered)))

    def forget(self) -> None:
        self._spellings.clear()
        self._pattern = None

    def clean(self, text: str) -> str:
        """A text without the secrets, and without user names and passwords in URLs."""
        if self._pattern is not None:
            text = self._pattern.sub(HIDDEN, text)
        return without_passwords(text)


def _spellings(secret: str) -> Iterator[str]:
    """As it may stand in a URL, in the repr of a setting, in JSON."""
    decoded = unquote(secret)
    for text in {secret, decoded}:
        yield from (text, quote(text, safe=""), repr(text)[1:-1], json.dumps(text)[1:-1])


def _authorizations(source: Any) -> Iterator[str]:
    """What is sent for the user and password of settings."""
    if isinstance(source, Mapping):
        user, password = source.get("HTTPAUTH_USER") or "", source.get("HTTPAUTH_PASS") or ""
        if password:
            yield b64encode(f"{user}:{password}".encode()).decode()


def _tolerant(secret: str) -> str:
    # pprint breaks long texts after a space.
    return r" (?:['\"]\s*['\"])?".join(map(re.escape, secret.split(" ")))


SECRETS = Redactor()


def _cleaned(text: str) -> str:
    return loggable(SECRETS.clean(text))


class CleanRecord(logging.LogRecord):
    """A log record without the secrets of this process, and without what acts on a terminal.

    Libraries log what sites write: lines of a robots.txt, headers, messages of exceptions. The
    text is cleaned when a handler formats it, whoever's handler that is.
    """

    def getMessage(self) -> str:
        return _cleaned(super().getMessage())

    # logging.Formatter puts the text of a traceback here before it uses it.
    @property
    def exc_text(self) -> str | None:
        return self._exc_text

    @exc_text.setter
    def exc_text(self, text: str | None) -> None:
        self._exc_text = None if text is None else _cleaned(text)

    @property
    def stack_info(self) -> str | None:
        return self._stack_info

    @stack_info.setter
    def stack_info(self, text: str | None) -> None:
        self._stack_info = None if text is None else _cleaned(text)


def protect(*sources: Any) -> None:
    """Keep the secrets of these settings, and of the environment, out of the logs and tracebacks
    of this process, and whatever acts on a terminal.
    """
    SECRETS.learn(os.environ, *map(_given, sources))
    # In place of Python's own, or of another version of this module, as in an egg.
    if getattr(logging.getLogRecordFactory(), "__name__", "") in ("LogRecord", "CleanRecord"):
        logging.setLogRecordFactory(CleanRecord)
    if getattr(sys.excepthook, "__name__", "") in ("excepthook", "_show_exception"):
        sys.excepthook = _show_exception


def _given(settings: Any) -> Any:
    """Without Scrapy's defaults: 'guest' is a password for FTP, and no secret."""
    priority = getattr(settings, "getpriority", None)
    return {name: settings[name] for name in settings if priority(name)} if priority else settings


def _show_exception(
    kind: type[BaseException], error: BaseException, place: TracebackType | None
) -> None:
    text = "".join(traceback.format_exception(kind, error, place))
    print(_cleaned(text), end="", file=sys.stderr)
