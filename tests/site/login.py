"""A login for the test site: pages only for whoever has sent the form. Standard library only."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

Fields = dict[str, Any]


class Login:
    """``{"path": "/login", "form": {"user": "me"}, "then": "/home"}``.

    A POST of the form to the path begins a session: a cookie, and a redirect. Without one, each
    page redirects to the path, but for that path and those in ``open``.
    """

    def __init__(self, login: Fields) -> None:
        self._path: str = login["path"]
        self._form: dict[str, str] = login["form"]
        self._then: str = login["then"]
        self._open = {self._path, "/robots.txt", *login.get("open", [])}
        self._sessions: set[str] = set()

    def answer(
        self, method: str, target: str, headers: dict[str, str], body: bytes
    ) -> Fields | None:
        """What it says to a request; None: it may have the page."""
        path = target.partition("?")[0]
        if method == "POST" and path == self._path:
            if dict(parse_qsl(body.decode())) != self._form:
                return {"status": 403, "body": "wrong"}
            session = f"sid={len(self._sessions) + 1}"
            self._sessions.add(session)
            cookie = f"{session}; Path=/; HttpOnly"
            return {"redirect": self._then, "status": 302, "headers": {"Set-Cookie": cookie}}
        cookies = {one.strip() for one in headers.get("cookie", "").split(";")}
        if path in self._open or cookies & self._sessions:
            return None
        return {"redirect": self._path, "status": 302}
