"""Answers of all kinds, for those who keep them: a picture, a packed text, a redirect, twins."""

from __future__ import annotations

import base64
import gzip
import random
from typing import Any

# Larger than a disk that is full lets files be, and than what is compressed at once.
PICTURE = random.Random(3).randbytes(400_000)
TEXT = "<p>Äpfel und Birnen " + "sehr " * 500
ANSWERS: dict[str, dict[str, Any]] = {
    "/picture": {
        "body_base64": base64.b64encode(PICTURE).decode(),
        "content_type": "image/png",
    },
    "/packed": {
        "body_base64": base64.b64encode(gzip.compress(TEXT.encode())).decode(),
        "headers": {"Content-Encoding": "gzip"},
        "chunked": True,
    },
    "/old": {"redirect": "/new", "body": "moved"},
    "/new": {"title": "New"},
    "/gone": {"status": 410, "body": "gone for good"},
    "/a": {"body": "<p>twins"},
    "/b": {"body": "<p>twins"},
}
