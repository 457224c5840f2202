"""A whole file as text: one PEM block (RFC 7468)."""

import base64
import binascii

from .refusal import Refused, require

FIRST = b"-----BEGIN DEADPAN SEALED FILE-----"
LAST = b"-----END DEADPAN SEALED FILE-----"


def remove(text: bytes) -> bytes:
    """Line ends may be those of any system; everything else is as a writer makes it, so that there is one armour for one file."""
    lines = text.replace(b"\r\n", b"\n").split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    require(len(lines) >= 3 and lines[0] == FIRST and lines[-1] == LAST, "armour without its end, or with something after it")
    body = lines[1:-1]
    require(all(len(line) == 64 for line in body[:-1]) and 0 < len(body[-1]) <= 64, "armour in lines that are not of 64 symbols")
    joined = b"".join(body)
    try:
        data = base64.b64decode(joined, validate=True)
    except binascii.Error:
        raise Refused("armour that is no base64") from None
    # The decoder of the library takes set bits after the last byte; there would be two texts for one file.
    require(base64.b64encode(data) == joined, "armour that is no canonical base64")
    return data
