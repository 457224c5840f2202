"""Sealed files as file objects."""

import io
import os

from deadpan._native import NativeReader, NativeWriter


class Reader(io.RawIOBase):
    """The data of a sealed file, readable at any place. Only what is read is opened.

    Wrap it in ``io.BufferedReader`` to read many small pieces.
    """

    def __init__(self, path, keys):
        self._native = NativeReader(path, keys)
        self._position = 0

    def __len__(self):
        return self._native.length

    def readable(self):
        return True

    def seekable(self):
        return True

    def tell(self):
        self._check()
        return self._position

    def seek(self, offset, whence=os.SEEK_SET, /):
        self._check()
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._native.length}.get(whence)
        if base is None:
            raise ValueError(f"{whence} is no place to seek from")
        if base + offset < 0:
            raise ValueError("a position before the beginning")
        self._position = base + offset
        return self._position

    def read(self, size=-1, /):
        self._check()
        if size is None or size < 0:
            size = max(self._native.length - self._position, 0)
        data = self._native.read_at(self._position, size)
        self._position += len(data)
        return data

    def readall(self):
        return self.read()

    def readinto(self, buffer, /):
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def _check(self):
        if self.closed:
            raise ValueError("the reader is closed")


class Writer(io.RawIOBase):
    """Seals what is written to it, and writes the result to a file object.

    Leave it with ``close`` or a ``with`` block that ends without an exception. Otherwise the sealed data are cut short,
    and do not open.
    """

    def __init__(self, file, to, *, age=False, hide_length=False, mixed=False):
        self._native = NativeWriter(to, age=age, hide_length=hide_length, mixed=mixed)
        self._file = file
        self._position = 0

    def writable(self):
        return True

    def tell(self):
        return self._position

    def write(self, b, /):
        if self.closed:
            raise ValueError("the writer is closed")
        length = memoryview(b).nbytes
        self._put(self._native.write(b))
        self._position += length
        return length

    def close(self):
        if not self.closed:
            try:
                self._put(self._native.finish())
            finally:
                super().close()

    def abandon(self):
        """Closes the writer without an end: the sealed data do not open."""
        super().close()

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.close()
        else:
            self.abandon()

    def __del__(self):
        # A writer that was forgotten has no end: what was written may not be all.
        if not self.closed:
            import warnings

            warnings.warn(f"unclosed {self!r}: the sealed data are cut short", ResourceWarning, source=self)
            self.abandon()

    def _put(self, data):
        while data:
            written = self._file.write(data)
            data = data[written:] if written is not None else b""
