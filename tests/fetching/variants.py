"""Responses as servers send them, and what browsers make of them.

``curl`` says where curl 7.88 decides otherwise.
"""

from __future__ import annotations

import gzip
import zlib
from typing import NamedTuple

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
HI = b"2\r\nhi\r\n0\r\n\r\n"


class Variant(NamedTuple):
    data: bytes
    # None: it is refused.
    body: bytes | None = b"hi"
    status: int = 200
    # Whether the connection can carry another request.
    is_kept: bool = True
    # Whether the server has to close the connection to end the response.
    closes: bool = False
    # What curl makes of it, if it is something else: a body, or None for an error.
    curl: bytes | str | None = "the same"


def packed(body: bytes) -> bytes:
    data = gzip.compress(body, mtime=0)
    return b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data)


VARIANTS: dict[str, Variant] = {
    "plain": Variant(OK + b"Content-Length: 2\r\n\r\nhi"),
    "chunked": Variant(CHUNKED + HI),
    "chunked, several": Variant(CHUNKED + b"1\r\nh\r\n1\r\ni\r\n0\r\n\r\n"),
    "chunk sizes with spaces": Variant(CHUNKED + b"2  \r\nhi\r\n0  \r\n\r\n"),
    "chunk extensions": Variant(CHUNKED + b'2;a=b;c="d"\r\nhi\r\n0;e\r\n\r\n'),
    "trailers": Variant(CHUNKED + b"2\r\nhi\r\n0\r\nX-Trailer: 1\r\n\r\n"),
    "bad trailers": Variant(CHUNKED + b"2\r\nhi\r\n0\r\n: 1\r\n\xe9: 2\r\n\r\n"),
    "trailers without a colon": Variant(CHUNKED + b"2\r\nhi\r\n0\r\nX\r\n\0\r\n\r\n", curl=None),
    "trailers that look like a head": Variant(
        CHUNKED + b"2\r\nhi\r\n0\r\n" + OK + b"Content-Length: 9\r\n\r\n", curl=None
    ),
    "trailers beyond the limit": Variant(
        CHUNKED + b"2\r\nhi\r\n0\r\n" + b"X: y\r\n" * 12_000 + b"\r\n", is_kept=False
    ),
    "no empty line behind the last chunk": Variant(
        CHUNKED + b"2\r\nhi\r\n0\r\n", is_kept=False, closes=True, curl=None
    ),
    "chunk lines that end with LF": Variant(CHUNKED + b"2\nhi\n0\n\n"),
    "chunk sizes with white space around": Variant(
        CHUNKED + b"\t 2 \t\r\nhi\r\n 0\r\n\r\n", curl=None
    ),
    "a chunk size with much white space": Variant(
        CHUNKED + b"2%b\r\nhi\r\n0\r\n\r\n" % (b" " * 500)
    ),
    "chunk sizes with zeros in front": Variant(
        CHUNKED + b"%b2\r\nhi\r\n000\r\n\r\n" % (b"0" * 50), curl=None
    ),
    "any bytes in chunk extensions": Variant(CHUNKED + b'2;"a\xe9\0;\rb\r\nhi\r\n0\r\n\r\n'),
    "a long chunk extension": Variant(CHUNKED + b"2;%b\r\nhi\r\n0\r\n\r\n" % (b"e" * 20_000)),
    "no headers": Variant(OK + b"\r\nhi", is_kept=False, closes=True),
    "until it ends": Variant(OK + b"Content-Type: text/html\r\n\r\nhi", is_kept=False, closes=True),
    "HTTP/1.0": Variant(b"HTTP/1.0 200 OK\r\n\r\nhi", is_kept=False, closes=True),
    "HTTP/1.0 with a length": Variant(
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", is_kept=False
    ),
    "HTTP/1.0, kept": Variant(
        b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi"
    ),
    "closed": Variant(OK + b"Connection: Close\r\nContent-Length: 2\r\n\r\nhi", is_kept=False),
    "204": Variant(b"HTTP/1.1 204 No Content\r\n\r\n", b"", 204),
    "204 with a length": Variant(b"HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n", b"", 204),
    "304": Variant(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", b"", 304),
    "100": Variant(b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nhi"),
    "103": Variant(
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nhi"
    ),
    "no reason": Variant(b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi"),
    "other reason": Variant(b"HTTP/1.1 200 Caf\xc3\xa9\r\nContent-Length: 2\r\n\r\nhi"),
    "two spaces before the status": Variant(b"HTTP/1.1  200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    "no space behind the status": Variant(b"HTTP/1.1 200OK\r\nContent-Length: 2\r\n\r\nhi"),
    "a status line in lower case": Variant(b"http/1.1 200 ok\r\nContent-Length: 2\r\n\r\nhi"),
    "HTTP/2 on a connection for HTTP/1.1": Variant(b"HTTP/2 200\r\nContent-Length: 2\r\n\r\nhi"),
    "HTTP/1": Variant(b"HTTP/1 200 OK\r\nContent-Length: 2\r\n\r\nhi", is_kept=False, curl=None),
    "HTTP/1.10": Variant(b"HTTP/1.10 200 OK\r\nContent-Length: 2\r\n\r\nhi", curl=None),
    "HTTP/0.9 with a head": Variant(
        b"HTTP/0.9 200 OK\r\nContent-Length: 2\r\n\r\nhi", is_kept=False, curl=None
    ),
    "an empty line first": Variant(b"\r\n" + OK + b"Content-Length: 2\r\n\r\nhi", curl=None),
    # Lengths.
    "the same length twice": Variant(OK + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi"),
    "the same length in a list": Variant(OK + b"Content-Length: 2, 2\r\n\r\nhi", curl=b"hi"),
    "the same length, spelled otherwise": Variant(
        OK + b"content-length: 02\r\nCONTENT-LENGTH:2 \r\n\r\nhi"
    ),
    "different lengths": Variant(
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi!", None, curl=b"hi!"
    ),
    "a length that is no number": Variant(
        OK + b"Content-Length: two\r\n\r\nhi", is_kept=False, closes=True, curl=None
    ),
    "an empty length": Variant(
        OK + b"Content-Length:\r\n\r\nhi", is_kept=False, closes=True, curl=None
    ),
    "a length that is too large": Variant(
        OK + b"Content-Length: %d\r\n\r\nhi" % 2**64, is_kept=False, closes=True
    ),
    "a negative length": Variant(
        OK + b"Content-Length: -2\r\n\r\nhi", is_kept=False, closes=True, curl=None
    ),
    "different lengths and chunks": Variant(
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + HI,
        is_kept=False,
    ),
    "length and chunks": Variant(
        OK + b"Content-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n" + HI, is_kept=False
    ),
    "chunks and length": Variant(
        OK + b"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n" + HI, is_kept=False
    ),
    # Transfer codings.
    "identity": Variant(OK + b"Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi"),
    "identity, no length": Variant(
        OK + b"Transfer-Encoding: identity\r\n\r\nhi", is_kept=False, closes=True
    ),
    "an unknown coding": Variant(
        OK + b"Transfer-Encoding: utf-8\r\nContent-Length: 2\r\n\r\nhi", is_kept=False, curl=None
    ),
    "an unknown coding, no length": Variant(
        OK + b"Transfer-Encoding: foo\r\n\r\nhi", is_kept=False, closes=True, curl=None
    ),
    "an unknown coding, chunked": Variant(
        OK + b"Transfer-Encoding: foo, chunked\r\n\r\n" + HI, is_kept=False, curl=None
    ),
    "HTTP/1.0, chunked": Variant(
        b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n" + HI,
        is_kept=False,
    ),
    "204, chunked": Variant(b"HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n", b"", 204),
    "Chunked": Variant(OK + b"Transfer-Encoding: Chunked\r\n\r\n" + HI),
    "chunked twice": Variant(
        OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + HI
    ),
    "identity, chunked": Variant(OK + b"Transfer-Encoding: identity, chunked\r\n\r\n" + HI),
    "gzip, chunked": Variant(OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + packed(b"hi")),
    "gzip and chunked in two headers": Variant(
        OK + b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + packed(b"hi")
    ),
    "gzip until it ends": Variant(
        OK + b"Transfer-Encoding: gzip\r\n\r\n" + gzip.compress(b"hi", mtime=0),
        is_kept=False,
        closes=True,
    ),
    "gzip and a length": Variant(
        OK
        + b"Transfer-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(gzip.compress(b"hi"))
        + gzip.compress(b"hi", mtime=0),
        is_kept=False,
        curl=b"hi",
    ),
    "deflate, chunked": Variant(
        OK
        + b"Transfer-Encoding: deflate, chunked\r\n\r\na\r\n%b\r\n0\r\n\r\n" % zlib.compress(b"hi")
    ),
    # Header lines.
    "a space before the colon": Variant(OK + b"Content-Length : 2\r\n\r\nhi", curl=b"hi"),
    "a tab before the colon": Variant(OK + b"Content-Length\t: 2\r\n\r\nhi", curl=b"hi"),
    "an empty name": Variant(OK + b": x\r\nContent-Length: 2\r\n\r\nhi"),
    "a name that is not ASCII": Variant(OK + b"X-\xc3\xa9: x\r\nContent-Length: 2\r\n\r\nhi"),
    "a name with a space": Variant(OK + b"X Y: x\r\nContent-Length: 2\r\n\r\nhi"),
    "no colon": Variant(OK + b"Nothing\r\nContent-Length: 2\r\n\r\nhi", curl=None),
    "a value that is not ASCII": Variant(OK + b"X: \xe9\xff\r\nContent-Length: 2\r\n\r\nhi"),
    "a folded value": Variant(OK + b"X: a\r\n\tb\r\nContent-Length: 2\r\n\r\nhi"),
    "a control character in a value": Variant(OK + b"X: \x01\r\nContent-Length: 2\r\n\r\nhi"),
    "NUL in a value": Variant(OK + b"X: \0\r\nContent-Length: 2\r\n\r\nhi", None),
    "bare line feeds": Variant(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi"),
    "bare line feeds, CRLF in the body": Variant(
        b"HTTP/1.1 200 OK\nContent-Length: 4\n\n\r\n\r\n", b"\r\n\r\n"
    ),
    "lines that end with CR CR LF": Variant(
        b"HTTP/1.1 200 OK\r\r\nContent-Length: 2\r\r\n\r\r\nhi"
    ),
    "kept for a while": Variant(
        OK + b"Keep-Alive: timeout=60, max=9\r\nContent-Length: 2\r\n\r\nhi"
    ),
    "kept for no time": Variant(
        OK + b"Keep-Alive: timeout=0\r\nContent-Length: 2\r\n\r\nhi", is_kept=False
    ),
    "an unasked upgrade": Variant(
        OK + b"Connection: Upgrade\r\nUpgrade: h2\r\nContent-Length: 2\r\n\r\nhi"
    ),
    # What is no response.
    "another protocol": Variant(b"SSH-2.0-OpenSSH_9.2\r\n\r\n", None),
    "another version": Variant(b"HTTP/3.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", None),
    "a status below 100": Variant(b"HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nhi", None),
    "NUL in the reason": Variant(b"HTTP/1.1 200 O\0K\r\nContent-Length: 2\r\n\r\nhi", None),
    "NUL in a name": Variant(OK + b"X\0: y\r\nContent-Length: 2\r\n\r\nhi", None),
    "a bad status": Variant(b"HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nhi", None),
    "switching protocols": Variant(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2\r\nConnection: Upgrade\r\n\r\n",
        None,
    ),
    "a storm of 1xx": Variant(b"HTTP/1.1 100 Continue\r\n\r\n" * 50, None),
    "too many headers": Variant(OK + b"X: y\r\n" * 2_000 + b"\r\n", None, curl=b""),
}

# Bytes behind a response that is complete.
LEFTOVERS: dict[str, bytes] = {
    "a byte": b"!",
    "a line break": b"\r\n",
    "a line feed": b"\n",
    "a comment": b"<!-- stored in a cache -->",
    "another response": OK + b"Content-Length: 4\r\n\r\nevil",
    "another chunked response": CHUNKED + b"4\r\nevil\r\n0\r\n\r\n",
    "half a response": OK + b"Content-Le",
    "one more chunk": b"4\r\nevil\r\n0\r\n\r\n",
    "an interim response": b"HTTP/1.1 100 Continue\r\n\r\n",
    "trailers": b"X: y\r\n\r\n",
    "NUL": b"\0",
}
