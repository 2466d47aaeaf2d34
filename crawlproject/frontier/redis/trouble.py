"""What goes wrong with a Redis, in words of one line: at the start, and in the middle of a crawl.

No password is among them. What Redis says inside of a script has no type of its own: before
Redis 7 it is only a part of the message.
"""

from __future__ import annotations

import re
import socket
import ssl

from redis import exceptions

_TELL_PASSWORD = "redis://USER:PASSWORD@HOST, special characters as %40 and the like"  # noqa: S105
_RIGHTS = (
    "~crawl:* +@read +@write +@scripting +@connection +@transaction +time +info, "
    "and +cluster in a cluster"
)

# By the code at the beginning of an error.
_PASSING = {
    "LOADING": "it is still loading its data",
    "BUSY": "it is busy with somebody's script: SCRIPT KILL ends that",
    "OOM": "it is full: raise maxmemory, or remove crawls that are not needed any more",
    "READONLY": "it is a read-only replica: give the address of the master",
    "MASTERDOWN": "it is a replica that has lost its master: give the address of the master",
    "CLUSTERDOWN": "the cluster is down: not all of its nodes can be reached",
    "TRYAGAIN": "the cluster is moving our keys to another node",
    "MISCONF": "it can't write to its disk, and so takes no changes: its own log says why",
    "NOREPLICAS": "it has too few replicas, and so takes no changes",
    "NOAUTH": f"it asks for a password: {_TELL_PASSWORD}",
    "WRONGPASS": f"the user or the password is wrong, or the user is off: {_TELL_PASSWORD}",
    "DENIED": "it is in protected mode, which lets nobody in from elsewhere: give it a password",
    "NOPERM": f"the user may not do all that a crawl does; it needs {_RIGHTS}",
}
_CODE = re.compile(rf"(?:^|-|: )({'|'.join(_PASSING)}) ")

# What has no code.
_SAID = {
    "max number of clients reached": "it has too many clients: raise its maxclients",
    "called without any password": "it has no password, and one is given: leave it out",
    "DB index is out of range": "it has no database of that number: 0 is always there",
    "SELECT is not allowed in cluster mode": "it is a cluster, which has the database 0 only",
    "user executing the script can't": _PASSING["NOPERM"],
    "Script killed by user": "somebody has ended our script",
    # The cluster's client does not tell these from mistakes of ours by their type.
    "cannot be connected": "no node of the cluster can be reached",
    "not covered": _PASSING["CLUSTERDOWN"],
    "TTL exhausted": _PASSING["TRYAGAIN"],
}

_NO_TLS = "it does not speak TLS: write redis:// instead of rediss://"
_NO_REDIS = "it does not answer as a Redis does"
_CLIENT_CERTIFICATE = "it asks for a certificate: add ?ssl_certfile=FILE&ssl_keyfile=FILE"


class Mended(exceptions.RedisError):
    """Something was not as it should be, and is now: what was asked may be asked again."""


def trouble_of(error: BaseException) -> str | None:
    """What is the matter, if it may pass, or if somebody can set it right while a crawl waits.

    None: a mistake of ours, or a script that is to be loaded again (NOSCRIPT).
    """
    if isinstance(error, exceptions.NoScriptError | exceptions.MaxConnectionsError):
        return None
    if not isinstance(error, exceptions.RedisError | exceptions.RedisClusterException):
        return None
    if isinstance(error, Mended):
        return str(error)
    message = str(error).rpartition("of pipeline caused error: ")[2]
    said = _said(f"{getattr(error, 'status_code', None) or ''} {message}".strip(), message)
    if said is not None:
        return said
    if isinstance(error, exceptions.TimeoutError):
        return "it does not answer in time"
    if isinstance(error, exceptions.InvalidResponse):
        return _NO_REDIS
    if isinstance(error, exceptions.ConnectionError):
        return _connection_trouble(error, message)
    return None


def hint(error: Exception, *, is_encrypted: bool) -> str:
    """What else may be wrong with an address that has never worked."""
    if isinstance(error, exceptions.ResponseError) and "unknown command" in str(error):
        return "; a crawl needs that command: was it disabled, or renamed?"
    silent = (exceptions.TimeoutError, exceptions.InvalidResponse)
    if not isinstance(error, silent) and not _is_closed(_cause(error), str(error)):
        return ""
    if is_encrypted:
        return (
            ": is it a Redis with TLS (without, write redis://), and does it want a certificate "
            "(?ssl_certfile=FILE&ssl_keyfile=FILE)?"
        )
    return ": is it a Redis, and is the port right? If it speaks TLS, write rediss://"


def _is_closed(cause: BaseException | None, message: str) -> bool:
    return isinstance(cause, ConnectionResetError) or "closed by server" in message


def _said(with_code: str, message: str) -> str | None:
    for words, meaning in _SAID.items():
        if words in message:
            return meaning
    found = _CODE.search(with_code)
    if found is None:
        return None
    if found[1] == "NOPERM":
        # It names the command, or the key.
        return f"{_PASSING['NOPERM']} (it says: {message.removeprefix('NOPERM ')})"
    return _PASSING[found[1]]


def _connection_trouble(error: BaseException, message: str) -> str:
    cause = _cause(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        said = cause.verify_message.rstrip(".")
        if "mismatch" in said:
            return f"its certificate is that of another host ({said}): write the name it is for"
        return (
            f"its certificate can't be trusted ({said}): "
            "name a file that vouches for it, as in ?ssl_ca_certs=FILE"
        )
    if "CERTIFICATE_REQUIRED" in message or "HANDSHAKE_FAILURE" in message:
        return _CLIENT_CERTIFICATE
    if isinstance(cause, ssl.SSLError):
        is_plain = (cause.reason or "") in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")
        return _NO_TLS if is_plain else f"TLS fails: {cause.reason or cause}"
    if isinstance(cause, socket.gaierror):
        return "its name is unknown: is the host spelled right?"
    if isinstance(cause, ConnectionRefusedError):
        return "nobody listens there: is it running, and is the port right?"
    if isinstance(cause, FileNotFoundError):
        return "there is no such socket: is it running?"
    if isinstance(cause, PermissionError):
        return "the socket may not be opened: whose is it?"
    if _is_closed(cause, message):
        return "it has closed the connection"
    return f"the connection is lost: {' '.join(message.split())}"


def _cause(error: BaseException) -> BaseException | None:
    """What the system said, below what the client makes of it."""
    cause = error.__cause__ or error.__context__
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__ or cause.__context__
    return cause
