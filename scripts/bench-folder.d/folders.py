"""The measured folders: how they are made, and how much space they take."""

import os
import random
from dataclasses import dataclass

# Space that a file takes beyond its bytes: its last block on the disk; in an archive its headers, the rest of a block,
# and its record in the index.
BLOCK, HEADERS = 4096, 3072


@dataclass(frozen=True)
class Folder:
    files: int

    @property
    def room(self):
        return self.bytes + self.files * BLOCK

    @property
    def archived(self):
        return round(self.bytes * 1.01) + self.files * HEADERS


@dataclass(frozen=True)
class Mixed(Folder):
    """Files of 100 bytes to 8 kB, a hundred to a folder, and one large file."""

    large: int

    @property
    def bytes(self):
        return self.large + self.files * 4050

    def make(self, path, bench):
        _many(path, self.files, 100, (100, 8000))
        bench.fill(self.large, os.path.join(path, "large"))
        os.sync()


@dataclass(frozen=True)
class Large(Folder):
    """A few large files, and a small one that comes after them."""

    each: int
    SMALL = "one-small-file"

    @property
    def bytes(self):
        return self.files * self.each

    def make(self, path, bench):
        os.mkdir(path)
        for number in range(self.files):
            bench.fill(self.each, os.path.join(path, f"large-{number}"))
        bench.fill(1000, os.path.join(path, self.SMALL))
        os.sync()


@dataclass(frozen=True)
class Million(Folder):
    """Files of 1 to 100 bytes, a thousand to a folder."""

    @property
    def bytes(self):
        return self.files * 50

    def make(self, path, bench):
        _many(path, self.files, 1000, (1, 100))
        os.sync()


def entries(path):
    """Lists everything in a folder, and the folder itself."""
    return sum(len(folders) + len(files) for _, folders, files in os.walk(path)) + 1


def _many(path, files, in_each, sizes):
    """Makes files whose sizes are the same in every run, and whose bytes are not."""
    choose = random.Random(1)
    folder = path
    os.mkdir(path)
    for number in range(files):
        if number % in_each == 0:
            folder = os.path.join(path, f"folder-{number // in_each:04}")
            os.mkdir(folder)
        with open(os.path.join(folder, f"file-{number % in_each:04}"), "wb", buffering=0) as file:
            file.write(os.urandom(choose.randint(*sizes)))
