"""Answers that are not HTML: the smallest valid picture and document, made by code.*"""

from __future__ import annotations

import struct
import zlib

Colour = tuple[int, int, int]


def png(width: int, height: int, top: Colour, bottom: Colour) -> bytes:
    """A picture that fades from one colour to another."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)

    shades = tuple(zip(top, bottom, strict=True))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = b"".join(
        b"\x00" + bytes((a * (height - y) + b * y) // height for a, b in shades) * width
        for y in range(height)
    )
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            chunk(b"IDAT", zlib.compress(rows, 9)),
            chunk(b"IEND", b""),
        )
    )


def pdf(line: str) -> bytes:
    """A document of one page with one line of ASCII text."""
    safe = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    drawing = f"BT /F1 24 Tf 72 770 Td ({safe}) Tj ET".encode("ascii", "replace")
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(drawing), drawing),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    document = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(document))
        document += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = len(document)
    document += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    document += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    document += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    document += b"startxref\n%d\n%%%%EOF\n" % table
    return bytes(document)
