"""Hidden length: the data, `80`, zero bytes up to a length that Padmé allows."""

from .floe import OVERHEAD, Payload
from .refusal import Refused, require


def padme(length: int) -> int:
    if length < 2:
        return length
    e = length.bit_length() - 1
    step = 1 << (e - e.bit_length())
    return -(-length // step) * step


def unpadded_length(payload: Payload) -> int:
    """Looks for the `80` from the end, and so opens only the segments that hold padding."""
    step = payload.segment - OVERHEAD
    for i in reversed(range(payload.segments)):
        opened = payload.open_segment(i).rstrip(b"\0")
        if opened:
            require(opened[-1] == 0x80, "padding without its beginning")
            length = i * step + len(opened) - 1
            require(padme(length + 1) == payload.length, "padding of another length than Padmé's")
            return length
    raise Refused("padding without its beginning")
