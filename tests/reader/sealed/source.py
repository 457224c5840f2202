"""Sources of a file's bytes: a file on disk, or memory. Only the requested bytes are read."""

import os
from typing import BinaryIO

from .refusal import require


class Disk:
    def __init__(self, file: BinaryIO):
        self.file = file
        self.size = os.fstat(file.fileno()).st_size

    def take(self, at: int, length: int) -> bytes:
        # The length is checked first, so that a hostile header causes no large allocation.
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
