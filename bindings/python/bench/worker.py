"""Runs named operations on request, and prints how long they took: the Python side of the bench `languages`.

A line `NAME SIZE TIMES` on standard input runs an operation TIMES times on SIZE bytes, and prints the nanoseconds.
"""

import base64
import filecmp
import importlib
import os
import pathlib
import sys
import tempfile
import time

import deadpan

KEY = deadpan.PrivateKey.generate()
PUBLIC = KEY.public


def data_of(size):
    """Bytes that do not compress, and are the same each time."""
    block = bytes((place * 31 >> 3) & 255 for place in range(1 << 16))
    return (block * (size // len(block) + 1))[:size]


class Buffers:
    """Sealing and opening into buffers that were used before."""

    def __init__(self, size):
        self.plain = data_of(size)
        self.sealed = bytearray(deadpan.sealed_length(size, PUBLIC))
        self.opened = bytearray(size)
        self.seal()
        self.open()

    def seal(self):
        return deadpan.seal_into(self.plain, PUBLIC, self.sealed)

    def open(self):
        return deadpan.open_into(self.sealed, KEY, self.opened)

    def check(self):
        assert self.opened == self.plain


class Pair:
    """A function and its inverse, which return new objects."""

    def __init__(self, size, forth, back):
        self.plain = data_of(size)
        self.forth, self.back = forth, back
        self.sealed = forth(self.plain)

    def seal(self):
        return self.forth(self.plain)

    def open(self):
        return self.back(self.sealed)

    def check(self):
        assert bytes(self.back(self.sealed)) == self.plain


def aesgcm():
    """AES-256-GCM of the package `cryptography`, with a key that both sides have. It takes up to 2 GiB."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    cipher = AESGCM(AESGCM.generate_key(256))

    def forth(data):
        nonce = os.urandom(12)
        return nonce, cipher.encrypt(nonce, data, None)

    return forth, lambda sealed: cipher.decrypt(*sealed, None)


def strict(module):
    """Base64 of a module that is lax by default."""
    return module.b64encode, lambda text: module.b64decode(text, validate=True)


class Files:
    """Sealing and opening of a file, on the disk of the folder for temporary files."""

    def __init__(self, size):
        self.folder = tempfile.TemporaryDirectory()
        self.plain, self.sealed, self.opened = (os.path.join(self.folder.name, name) for name in ("plain", "x", "y"))
        with open(self.plain, "wb") as file:
            file.write(data_of(size))
        self.seal()
        self.open()

    def seal(self):
        # The old output is removed first, because replacing a file would wait until the new file is on the disk.
        pathlib.Path(self.sealed).unlink(missing_ok=True)
        deadpan.seal_file(self.plain, self.sealed, PUBLIC)

    def open(self):
        pathlib.Path(self.opened).unlink(missing_ok=True)
        deadpan.open_file(self.sealed, self.opened, KEY)

    def check(self):
        assert filecmp.cmp(self.plain, self.opened, shallow=False)


def new():
    return (lambda data: deadpan.seal(data, PUBLIC)), (lambda sealed: deadpan.open(sealed, KEY))


PAIRS = {
    "aesgcm": aesgcm,
    "base64": lambda: (deadpan.base64.b64encode, deadpan.base64.b64decode),
    "pybase64": lambda: strict(importlib.import_module("pybase64")),
    "std-base64": lambda: strict(base64),
}
# For each name of an operation: the function that prepares its data, and the method that is measured.
OPERATIONS = {
    **{way: (Buffers, way) for way in ("seal", "open")},
    **{f"{way}.new": (lambda size: Pair(size, *new()), way) for way in ("seal", "open")},
    **{f"file.{way}": (Files, way) for way in ("seal", "open")},
    **{
        f"{name}.{way}": (lambda size, pair=pair: Pair(size, *pair()), way)
        for name, pair in PAIRS.items()
        for way in ("seal", "open")
    },
}


def main():
    kept = (None, None)
    for line in sys.stdin:
        try:
            name, size, times = line.split()
            maker, way = OPERATIONS[name]
            place = (name.replace("seal", "").replace("open", ""), size)
            if kept[0] != place:
                kept = (None, None)
                kept = (place, maker(int(size)))
            run = getattr(kept[1], way)
            start = time.perf_counter_ns()
            for _ in range(int(times)):
                run()
            took = time.perf_counter_ns() - start
            kept[1].check()
            print(took, flush=True)
        except Exception as error:
            print(f"error {type(error).__name__}: {error}", flush=True)


main()
