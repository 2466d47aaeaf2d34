"""The TLS context of a crawl, from Scrapy's settings.

Settings read: ``DOWNLOAD_VERIFY_CERTIFICATES``, ``DOWNLOAD_TLS_MIN_VERSION``,
``DOWNLOAD_TLS_MAX_VERSION``, ``DOWNLOADER_CLIENT_TLS_CIPHERS``. Environment: ``SSLKEYLOGFILE``.
"""

from __future__ import annotations

import logging
import os
import ssl
from typing import TYPE_CHECKING

from crawlproject.errors import BadArgument

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_VERSIONS = {
    "TLSv1.0": ssl.TLSVersion.TLSv1,
    "TLSv1.1": ssl.TLSVersion.TLSv1_1,
    "TLSv1.2": ssl.TLSVersion.TLSv1_2,
    "TLSv1.3": ssl.TLSVersion.TLSv1_3,
}


def check_tls(settings: BaseSettings) -> None:
    """Raise BadArgument for settings of which no context can be made."""
    _limit(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), settings)


def tls_context(settings: BaseSettings) -> ssl.SSLContext:
    """Raises BadArgument."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES"):
        context.load_default_certs()
    else:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    _limit(context, settings)
    context.set_alpn_protocols(["http/1.1"])
    if keylog := os.environ.get("SSLKEYLOGFILE"):
        try:
            context.keylog_filename = keylog
        except OSError as error:
            logger.warning("Cannot write TLS session keys to SSLKEYLOGFILE=%s: %s", keylog, error)
    return context


def _limit(context: ssl.SSLContext, settings: BaseSettings) -> None:
    minimum = _version(settings, "DOWNLOAD_TLS_MIN_VERSION")
    maximum = _version(settings, "DOWNLOAD_TLS_MAX_VERSION")
    if minimum is not None and maximum is not None and minimum > maximum:
        raise BadArgument(
            "DOWNLOAD_TLS_MIN_VERSION",
            f"{settings['DOWNLOAD_TLS_MIN_VERSION']} is more than DOWNLOAD_TLS_MAX_VERSION="
            f"{settings['DOWNLOAD_TLS_MAX_VERSION']}",
        )
    if minimum is not None:
        context.minimum_version = minimum
    if maximum is not None:
        context.maximum_version = maximum
    ciphers = settings["DOWNLOADER_CLIENT_TLS_CIPHERS"]
    if ciphers:
        try:
            context.set_ciphers(ciphers)
        except ssl.SSLError:
            raise BadArgument(
                "DOWNLOADER_CLIENT_TLS_CIPHERS", f"OpenSSL knows no cipher of {ciphers!r}"
            ) from None


def _version(settings: BaseSettings, name: str) -> ssl.TLSVersion | None:
    value = settings[name]
    if value is None:
        return None
    if value not in _VERSIONS:
        raise BadArgument(name, f"{value!r} is not one of {', '.join(_VERSIONS)}")
    return _VERSIONS[value]
