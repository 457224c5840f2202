"""Where a file's bytes come from: a stretch of a file on disk, or memory. A range is opened without reading what lies outside it."""

import os
from typing import BinaryIO

from .refusal import require


class Disk:
    def __init__(self, file: BinaryIO):
        self.file = file
        self.size = os.fstat(file.fileno()).st_size

    def take(self, at: int, length: int) -> bytes:
        # Asked before reading, so that a length from a hostile header never becomes an allocation.
        require(at + length <= self.size, "the file is cut short")
        self.file.seek(at)
        data = self.file.read(length)
        require(len(data) == length, "the file is cut short")
        return data


class Memory:
    def __init__(self, data: bytes):
        self.data = data
        self.size = len(data)

    def take(self, at: int, length: int) -> bytes:
        require(at + length <= self.size, "the file is cut short")
        return self.data[at : at + length]
