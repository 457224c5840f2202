"""Writes plaintexts that every OAEP decoding refuses: in one file the byte that separates the padding from the message
comes first, in the other it comes last.

usage: classes.py EARLY LATE
"""

import hashlib
import os
import sys
from pathlib import Path

SIZE = 128
HASH = 20


def mask(seed, length):
    blocks = (hashlib.sha1(seed + count.to_bytes(4, "big")).digest() for count in range(length // HASH + 1))
    return b"".join(blocks)[:length]


def xor(left, right):
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def plaintext(zeros):
    message = bytes(2 + byte % 254 for byte in os.urandom(SIZE - 2 * HASH - 2 - zeros))
    # The hash of the label is wrong, so the decoding refuses the plaintext wherever the separator is.
    block = os.urandom(HASH) + bytes(zeros) + b"\1" + message
    seed = os.urandom(HASH)
    masked = xor(block, mask(seed, len(block)))
    return b"\0" + xor(seed, mask(masked, HASH)) + masked


for name, zeros in zip(sys.argv[1:], [0, SIZE - 2 * HASH - 2], strict=True):
    Path(name).write_bytes(b"".join(plaintext(zeros) for _ in range(64)))
