"""Compressed data: frames of Zstandard, and a table of the frames' lengths at the end."""

import struct
from itertools import accumulate

import zstandard

from .refusal import Refused, require

FRAME = 1 << 22
MOST = 1 << 24


class Expanded:
    """The data in stored bytes. `read` returns the stored bytes between two offsets; there are `stored` bytes."""

    def __init__(self, read, stored: int):
        self.read = read
        require(stored >= 17, "compressed data without a table")
        count, descriptor, magic = struct.unpack("<IBI", read(stored - 9, stored))
        require(magic == 0x8F92EAB1 and descriptor == 0 and count <= MOST, "no table at the end of compressed data")
        begin = stored - 17 - 8 * count
        require(begin >= 0, "a table that is longer than its data")
        table = read(begin, stored - 9)
        require(table[:8] == struct.pack("<II", 0x184D2A5E, 8 * count + 9), "a table without its beginning")
        lines = list(struct.iter_unpack("<II", table[8:]))
        for stored_length, length in lines:
            require(stored_length <= longest(length), "a frame that is longer than its data need")
        require(all(length == FRAME for _, length in lines[:-1]), "a short frame before the last")
        require(all(1 <= length <= FRAME for _, length in lines[-1:]), "a frame without data, or with too many")
        self.begins = [0, *accumulate(stored_length for stored_length, _ in lines)]
        require(self.begins[-1] == begin, "a table of other frames")
        self.length = sum(length for _, length in lines)
        self.lengths = [length for _, length in lines]

    def open_range(self, begin: int, end: int) -> bytes:
        """Expands all frames, so that a malformed frame anywhere refuses the file, and returns the range."""
        data = b"".join(self.frame(number) for number in range(len(self.lengths)))
        return data[begin:end]

    def frame(self, number: int) -> bytes:
        frame = self.read(self.begins[number], self.begins[number + 1])
        check_form(frame, self.lengths[number])
        try:
            decoder = zstandard.ZstdDecompressor(max_window_size=FRAME)
            data = decoder.decompress(frame, max_output_size=self.lengths[number], allow_extra_data=False)
        except zstandard.ZstdError as why:
            raise Refused(f"a frame that does not expand: {why}") from None
        require(len(data) == self.lengths[number], "a frame that expands to another length")
        return data


def longest(length: int) -> int:
    return length + length // 256 + 64


def check_form(frame: bytes, length: int):
    """Checks the header of a frame, and that its blocks end where the frame ends."""
    require(frame[:4] == b"\x28\xb5\x2f\xfd" and len(frame) > 4, "something that is no frame")
    descriptor = frame[4]
    require(descriptor & 0x1F == 0, "a frame with a dictionary, a checksum or unknown bits")
    single, size = bool(descriptor & 0x20), descriptor >> 6
    require(single or size, "a frame that does not state the length of its data")
    if not single:
        require(len(frame) > 5, "a frame without a header")
        base = 1 << (10 + (frame[5] >> 3))
        require(base + base // 8 * (frame[5] & 7) <= FRAME, "a frame with a window that is too wide")
    at = 5 + (not single)
    stated = frame[at : at + (1 << size)]
    require(len(stated) == 1 << size, "a frame without a header")
    require(int.from_bytes(stated, "little") + (256 if size == 1 else 0) == length, "a frame of another length")
    at += 1 << size
    last = 0
    while not last:
        require(at + 3 <= len(frame), "a frame without its end")
        header = int.from_bytes(frame[at : at + 3], "little")
        last, kind, size = header & 1, header >> 1 & 3, header >> 3
        require(kind != 3 and size <= 1 << 17, "a block of an unknown kind, or too long")
        at += 3 + (1 if kind == 1 else size)
    require(at == len(frame), "a frame that does not end with its last block")
