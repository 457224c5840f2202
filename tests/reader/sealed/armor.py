"""A whole file as text: one PEM block (RFC 7468), alone or behind a page, in each form of docs/format-seal.md."""

import base64
import binascii
import re

from .header import PREAMBLE as SIGNATURE
from .refusal import Refused, require

BEGIN = b"-----BEGIN DEADPAN SEALED FILE-----"
END = b"-----END DEADPAN SEALED FILE-----"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# The first line of armor lies within this many bytes.
WINDOW = 4096
SPACE = b" \t\v\f"
# The first two lines of a page, the line after the armor in it, and the last offset at which the armor begins.
PAGE = [b"<!doctype html>", b"<!-- Deadpan page -->"]
PAGE_END = b"</script>"
LONGEST_PAGE = 4 << 20


def raw_lines(text: bytes) -> list[bytes]:
    return re.split(rb"\r\n|\n|\r", text.removeprefix(BYTE_ORDER_MARK))


def lines(text: bytes) -> list[bytes]:
    """The lines of a text, without quoting at their start and white space around them."""
    return [line.lstrip(SPACE + b">").rstrip(SPACE) for line in raw_lines(text)]


def is_page(start: bytes) -> bool:
    return raw_lines(start[:WINDOW])[:2] == PAGE


def is_armor(start: bytes) -> bool:
    if start.startswith(SIGNATURE[:1]):
        return False
    return is_page(start) or any(line.startswith(BEGIN) for line in lines(start[:WINDOW]))


def behind_page(text: bytes) -> bytes:
    found = re.search(rb"[\n\r]" + BEGIN, text)
    require(found is not None, "a page without armor")
    require(found.start() + 1 <= LONGEST_PAGE, "armor that begins too late behind a page")
    return text[found.start() + 1 :]


def remove(text: bytes) -> bytes:
    in_page = is_page(text)
    every = lines(behind_page(text) if in_page else text)
    first = next(number for number, line in enumerate(every) if line.startswith(BEGIN))
    require(every[first] == BEGIN, "armor whose first line holds something else")
    require(not any(every[:first]), f"armor that begins in line {first + 1}, behind other text")
    last = next((number for number, line in enumerate(every) if number > first and line.startswith(b"-")), None)
    require(last is not None and every[last] == END, "armor without its end")
    behind = [line for line in every[last + 1 :] if line]
    require(not behind or in_page and behind == [PAGE_END], "something after the end of the armor")
    # White space may stand between symbols, too.
    symbols = b"".join(every[first + 1 : last]).translate(None, SPACE)
    require(b":" not in symbols, "armor with a header")
    try:
        data = base64.b64decode(symbols, validate=True)
    except binascii.Error:
        raise Refused("armor that is not base64") from None
    # Python's decoder accepts unused bits that are set. Without this check, one file could have several valid texts.
    require(base64.b64encode(data) == symbols, "armor that is not canonical base64")
    return data
