"""Sealed files as file objects."""

import io
import os

from deadpan._native import NativeReader, NativeWriter


class Reader(io.RawIOBase):
    """The data of a sealed file, readable at any place. Only what is read is opened.

    ``source`` is a path, or a binary file object that can seek, which stays open. Wrap the reader in
    ``io.BufferedReader`` to read many small pieces.
    """

    def __init__(self, source, keys):
        self._native = None
        self._native = NativeReader(source, keys)
        self._position = 0

    def __len__(self):
        self._check()
        return self._native.length

    def __bool__(self):
        # A file object is true even if it is empty.
        return True

    def close(self):
        # The keys of the file are wiped with the last reference.
        self._native = None
        super().close()

    def __del__(self):
        if getattr(self, "_native", None) is not None:
            _forgotten(self, "a reader that is not closed")
            self.close()

    def readable(self):
        return True

    def seekable(self):
        return True

    def tell(self):
        self._check()
        return self._position

    def seek(self, offset, whence=os.SEEK_SET, /):
        self._check()
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: len(self)}.get(whence)
        if base is None:
            raise ValueError(f"{whence} is no place to seek from")
        if base + offset < 0:
            raise ValueError("a position before the beginning")
        self._position = base + offset
        return self._position

    def read(self, size=-1, /):
        self._check()
        if size is None or size < 0:
            size = max(len(self) - self._position, 0)
        native = self._native
        if native is None:
            raise ValueError("the reader is closed")
        data = native.read_at(self._position, size)
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
        if self.closed or self._native is None:
            raise ValueError("the reader is closed")


class Writer(io.RawIOBase):
    """Seals what is written to it, and writes the result to a file object.

    Leave it with ``close`` or a ``with`` block that ends without an exception. Otherwise the sealed data are cut short,
    and do not open.
    """

    def __init__(self, file, to, *, age=False, hide_length=False, mixed=False):
        self._native = None
        self._native = NativeWriter(to, age=age, hide_length=hide_length, mixed=mixed)
        self._file = file
        self._position = 0

    def writable(self):
        return True

    def tell(self):
        return self._position

    def write(self, b, /):
        native = self._native
        if self.closed or native is None:
            raise ValueError("the writer is closed")
        length = memoryview(b).nbytes
        self._put(native.write(b))
        self._position += length
        return length

    def close(self):
        if not self.closed:
            native = self._native
            try:
                self._put(native.finish() if native is not None else b"")
            finally:
                self.abandon()

    def abandon(self):
        """Closes the writer without an end: the sealed data do not open."""
        self._native = None
        super().close()

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.close()
        else:
            self.abandon()

    def __del__(self):
        # A writer that was forgotten has no end: what was written may not be all.
        if getattr(self, "_native", None) is not None:
            _forgotten(self, "the sealed data are cut short")
            self.abandon()

    def _put(self, data):
        """Writes sealed bytes. After an error the writer takes nothing more, because bytes may be missing."""
        try:
            while data:
                written = self._file.write(data)
                if written is None:
                    raise BlockingIOError("the file does not wait, and takes nothing now")
                if not isinstance(written, int) or not 0 < written <= len(data):
                    raise OSError(f"the file says that it wrote {written!r} of {len(data)} bytes")
                data = data[written:]
        except BaseException:
            self.abandon()
            raise


def _forgotten(what, why):
    import warnings

    warnings.warn(f"unclosed {what!r}: {why}", ResourceWarning, source=what)
