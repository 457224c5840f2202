"""Reads big-endian fields from bytes, which may end too early."""

from .refusal import require


class Fields:
    def __init__(self, data: bytes):
        self.data = data
        self.at = 0

    def take(self, length: int) -> bytes:
        require(length <= len(self.data) - self.at, "a field runs past the end of what holds it")
        self.at += length
        return self.data[self.at - length : self.at]

    def number(self, length: int, signed: bool = False) -> int:
        return int.from_bytes(self.take(length), "big", signed=signed)

    def rest(self) -> bytes:
        return self.take(len(self.data) - self.at)
