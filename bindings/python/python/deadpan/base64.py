"""Base64 in constant time, with the names of the standard module. Decoding is strict."""

from deadpan._native import (
    b16decode,
    b16encode,
    b64decode,
    b64encode,
    decodebytes,
    encodebytes,
    standard_b64decode,
    standard_b64encode,
    urlsafe_b64decode,
    urlsafe_b64encode,
)

__all__ = [
    "b16decode",
    "b16encode",
    "b64decode",
    "b64encode",
    "decode",
    "decodebytes",
    "encode",
    "encodebytes",
    "standard_b64decode",
    "standard_b64encode",
    "urlsafe_b64decode",
    "urlsafe_b64encode",
]

# The length of a piece is a multiple of 57 bytes, because 57 bytes become one line of text.
_PIECE = 57 * 1024


def encode(input, output):
    """Encodes a binary file to another, in lines."""
    while piece := input.read(_PIECE):
        while len(piece) % 57 and (more := input.read(57 - len(piece) % 57)):
            piece += more
        output.write(encodebytes(piece))


def decode(input, output):
    """Decodes a binary file of lines to another."""
    for line in input:
        output.write(decodebytes(line))
