"""Sealed files as file objects."""

import io
import os
import sys
import threading
import warnings

from deadpan._native import NativeReader, NativeWriter


class _Turn:
    """Lets one thread in at a time. A call from within a call is an error, since it would wait for itself."""

    def __init__(self):
        self._lock = threading.Lock()
        self._owner = None

    def __enter__(self):
        if self._owner == threading.get_ident():
            raise RuntimeError("a sealed file object was used while it was in use by the same thread")
        self._lock.acquire()
        self._owner = threading.get_ident()

    def __exit__(self, *_):
        self._owner = None
        self._lock.release()


class _Sealed(io.RawIOBase):
    def __reduce_ex__(self, protocol):
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled")


class Reader(_Sealed):
    """The data of a sealed file, readable at any place. Only what is read is opened.

    ``source`` is a path, or a binary file object that can seek, which stays open. Wrap the reader in
    ``io.BufferedReader`` to read many small pieces.
    """

    def __init__(self, source, keys):
        self._native = None
        self._turn = _Turn()
        self._native = NativeReader(source, keys)
        self._position = 0

    def __len__(self):
        return self._open().length

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
        self._open()
        return True

    def seekable(self):
        self._open()
        return True

    def tell(self):
        self._open()
        return self._position

    def seek(self, offset, whence=os.SEEK_SET, /):
        with self._turn:
            base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: len(self)}.get(whence)
            if base is None:
                raise ValueError(f"{whence} is no place to seek from")
            if base + offset < 0:
                raise ValueError("a position before the beginning")
            self._position = base + offset
            return self._position

    def read(self, size=-1, /):
        with self._turn:
            native = self._open()
            if size is None or size < 0:
                size = max(native.length - self._position, 0)
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

    def _open(self):
        native = self._native
        if self.closed or native is None:
            raise ValueError("the reader is closed")
        return native


class Writer(_Sealed):
    """Seals what is written to it, and writes the result to a file object.

    Leave it with ``close`` or a ``with`` block that ends without an exception. Otherwise the sealed data are cut short,
    and do not open. Within its ``with`` block, a wrapper such as ``io.TextIOWrapper`` may close the writer: the end is
    sealed when the block ends.
    """

    def __init__(self, file, to, *, age=False, hide_length=False, allow_mixed=False):
        self._native = None
        self._turn = _Turn()
        self._within = self._ended = False
        if not callable(getattr(file, "write", None)):
            kind = type(file).__name__
            raise TypeError(f"a Writer writes to a binary file object, and {kind} is none: open(path, 'wb')")
        self._native = NativeWriter(to, age=age, hide_length=hide_length, allow_mixed=allow_mixed)
        self._file = file
        self._position = 0

    def writable(self):
        return True

    def tell(self):
        return self._position

    def write(self, b, /):
        with self._turn:
            native = self._native
            if self.closed or self._ended or native is None:
                raise ValueError("the writer is closed")
            length = memoryview(b).nbytes
            self._put(native.write(b))
            self._position += length
            return length

    def close(self):
        if self._within:
            # A wrapper may be closed because of an exception, which only the end of the block knows.
            self._ended = True
        elif not self.closed:
            with self._turn:
                native = self._native
                try:
                    self._put(native.finish() if native is not None else b"")
                finally:
                    self.abandon()

    def abandon(self):
        """Closes the writer without an end: the sealed data do not open."""
        self._native = None
        self._within = False
        super().close()

    def __enter__(self):
        super().__enter__()
        self._within = True
        return self

    def __exit__(self, kind, value, trace):
        self._within = False
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
            rest = memoryview(data)
            while rest:
                written = self._file.write(rest if len(rest) < len(data) else data)
                if written is None:
                    raise BlockingIOError("the file does not wait, and takes nothing now")
                if type(written) is not int or not 0 < written <= len(rest):
                    raise OSError(f"the file says that it wrote {written!r} of {len(rest)} bytes")
                rest = rest[written:]
        except BaseException:
            self.abandon()
            raise


def _forgotten(what, why):
    if not sys.is_finalizing():
        warnings.warn(f"unclosed {what!r}: {why}", ResourceWarning, source=what)
