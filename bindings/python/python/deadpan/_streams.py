"""Sealed files as file objects."""

import io
import os
import sys
import threading
import warnings

from deadpan._native import NativeSealed, NativeWriter, StoppedError

# A Reader opens at least this number of bytes at once: about one segment of the sealed format.
_BUFFER = 1 << 16
# A Writer seals this number of bytes at once. Between two pieces, Python checks for signals.
_PIECE = 1 << 22


class _Plaintext(io.RawIOBase):
    """The plaintext of a sealed file, without a buffer: the raw file of a `Reader`, whose lock it relies on.

    Closing it also closes ``owned``, the file object with the sealed data, if there is one.
    """

    def __init__(self, native, owned=None):
        self._native = native
        self._owned = owned
        self._position = 0

    @property
    def length(self):
        return self._open().length

    def close(self):
        # When the last reference is gone, the keys of the file are wiped.
        self._native = None
        owned, self._owned = self._owned, None
        try:
            if owned is not None:
                owned.close()
        finally:
            super().close()

    def readable(self):
        return True

    def seekable(self):
        return True

    def tell(self):
        self._open()
        return self._position

    def seek(self, offset, whence=os.SEEK_SET, /):
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.length}.get(whence)
        if base is None:
            raise ValueError(f"{whence} is no place to seek from")
        if base + offset < 0:
            raise ValueError("a position before the beginning")
        self._position = base + offset
        return self._position

    def readinto(self, buffer, /):
        count = self._open().read_into(self._position, buffer)
        self._position += count
        return count

    def _open(self):
        native = self._native
        if native is None:
            raise ValueError("the reader is closed")
        return native


class Reader(io.BufferedReader):
    """The data of a sealed file, readable at any place. Only what is read is opened.

    ``source`` is a path, or a binary file object that can seek, which stays open. ``keys`` and
    ``max_cost`` are those of ``deadpan.open``. ``entry`` is the path of a file in a sealed folder, as in
    ``deadpan.list_folder``: the reader then reads this file alone. ``len`` returns the length of the data.
    Lines, texts (``io.TextIOWrapper``) and small pieces need no other buffer.
    """

    def __init__(self, source, keys, *, max_cost=None, entry=None):
        _refuse_text(source, "rb")
        self._start(NativeSealed(source, keys, max_cost=max_cost).reader(entry, source))
        self._begun = True

    def _start(self, native, owned=None):
        super().__init__(_Plaintext(native, owned), _BUFFER)

    def __len__(self):
        return self.raw.length

    def __bool__(self):
        # Without this method, an empty file object would be false in conditions, because it has a length.
        return True

    def __del__(self):
        if getattr(self, "_begun", False) and self.raw is not None and not self.closed:
            _forgotten(self, "a reader that is not closed")
            self.close()

    def __reduce_ex__(self, protocol):
        raise _no_copy(self)

    def read(self, size=-1, /):
        """Reads and returns ``size`` bytes, or all that are left. Returns fewer only at the end."""
        if size is None or size < 0:
            # If the size is given, the base class reads the bytes directly into the result.
            size = max(len(self) - self.tell(), 0)
        return super().read(size)

    def readinto(self, buffer, /):
        """Fills a buffer, and returns how many bytes were read: fewer than fit only at the end."""
        return super().readinto(buffer)

    def readinto1(self, buffer, /):
        """Reads into a buffer what one reading of the source gives, and returns how many bytes that were."""
        return super().readinto1(buffer)

    def peek(self, size=0, /):
        """Returns some of the next bytes, and stays at its position."""
        return super().peek(size)


class Writer(io.BufferedIOBase):
    """Seals what is written to it, and writes the result to a file object.

    The sealed data are complete when a ``with`` block of the writer ends without an exception, or after ``finish``.
    Otherwise they are cut short, and do not open. ``file`` stays open. ``to``, ``age``, ``hide_length``,
    ``allow_mixed`` and ``compress`` are those of ``deadpan.seal``.
    """

    def __init__(self, file, to, *, age=False, hide_length=False, allow_mixed=False, compress=None):
        self._native = None
        # The same thread may take this lock again, because the file object may call the writer.
        self._lock = threading.RLock()
        self._busy = self._within = self._ended = self._complete = self._abandoned = False
        self._why = ""
        if not callable(getattr(file, "write", None)):
            kind = type(file).__name__
            raise TypeError(f"a Writer writes to a binary file object, and {kind} is none: open(path, 'wb')")
        _refuse_text(file, "wb")
        writable = getattr(file, "writable", None)
        if callable(writable) and not writable():
            raise io.UnsupportedOperation("the file is not open for writing: open(path, 'wb')")
        self._native = NativeWriter(
            to, age=age, hide_length=hide_length, allow_mixed=allow_mixed, compress=compress
        )
        self._file = file
        self._position = 0

    @property
    def closed(self):
        """Whether the writer takes nothing more."""
        return self._native is None or self._ended

    def writable(self):
        """Returns ``True``."""
        return True

    def tell(self):
        """Returns how many bytes were written to the writer."""
        return self._position

    def write(self, b, /):
        """Seals bytes, or any buffer, and returns how many bytes that were: always all.

        If the file fails, or a signal interrupts the writing, the sealed data are cut short.
        """
        if isinstance(b, str):
            raise TypeError("a text has to be encoded first: io.TextIOWrapper(writer) does it")
        with self._lock, memoryview(b) as data:
            native = self._native
            if self.closed or native is None:
                raise ValueError("the writer is closed")
            if not data.c_contiguous:
                raise BufferError("the buffer is not contiguous")
            self._take_turn()
            try:
                for begin in range(0, data.nbytes, _PIECE):
                    self._put(native.write(data, begin, _PIECE))
            except BaseException:
                # The output may lack bytes after this failure.
                self._cut("write() failed or was interrupted")
                raise
            finally:
                self._busy = False
            self._position += data.nbytes
            return data.nbytes

    def finish(self):
        """Seals the end and closes the writer: the sealed data are complete. Does nothing if they are already.

        Raises ``StoppedError`` if the sealed data were cut short before.
        """
        with self._lock:
            if self._complete:
                return
            native = self._native
            if native is None:
                raise StoppedError(f"the sealed data are cut short, and do not open: {self._why}")
            self._take_turn()
            try:
                self._put(native.finish())
                self._complete = True
            finally:
                self._busy = False
                self._cut("finish() failed or was interrupted")

    def close(self):
        """Closes the writer. Without a `finish` before, cuts the sealed data short, and raises ``StoppedError``.

        Within a ``with`` block of the writer, ``close`` only ends the writing, and the end of the block decides:
        wrappers such as ``io.TextIOWrapper`` close the writer in the same way after success and after an exception.
        """
        with self._lock:
            if self._within:
                self._ended = True
            elif self._native is not None:
                self._cut("the writer was closed before finish()")
                advice = "call finish(), or write in a block `with deadpan.Writer(...) as writer:`"
                raise StoppedError(f"the sealed data are cut short, and do not open: {self._why}; {advice}")

    def abandon(self):
        """Closes the writer without an end: the sealed data do not open."""
        self._abandoned = True
        self._cut("abandon() was called")

    def __enter__(self):
        super().__enter__()
        self._within = True
        return self

    def __exit__(self, kind, value, trace):
        self._within = False
        if kind is not None:
            self.abandon()
        elif not self._abandoned:
            self.finish()

    def __del__(self):
        # The destructor does not seal the end of the data, because some data may be missing.
        if getattr(self, "_native", None) is not None:
            _forgotten(self, "the sealed data are cut short")
            self.abandon()

    def __reduce_ex__(self, protocol):
        raise _no_copy(self)

    def _dealloc_warn(self, source):
        # A wrapper in C calls this method when the garbage collector frees the wrapper. The wrapper then calls `close`
        # and ignores the exception.
        if self._native is not None and not self._within:
            _forgotten(source, "the sealed data are cut short")

    def _take_turn(self):
        if self._busy:
            raise RuntimeError("a sealed file object was used while it was in use by the same thread")
        self._busy = True

    def _cut(self, why):
        """Closes the writer for good. The first reason stays."""
        self._why = self._why or why
        self._native = None
        super().close()

    def _put(self, data):
        """Writes sealed bytes."""
        rest = memoryview(data)
        while rest:
            written = self._file.write(rest if len(rest) < len(data) else data)
            if written is None:
                raise BlockingIOError("the file does not wait, and takes nothing now")
            if type(written) is not int or not 0 < written <= len(rest):
                raise OSError(f"the file says that it wrote {written!r} of {len(rest)} bytes")
            rest = rest[written:]


def _refuse_text(file, mode):
    """Refuses a file object of texts at once. Wrappers, such as those of ``tempfile``, only have its attributes."""
    if isinstance(file, io.TextIOBase) or hasattr(file, "encoding"):
        kind = type(file).__name__
        raise TypeError(f"{kind} is a file of text, and sealed data are bytes: open(path, {mode!r}), or file.buffer")


def _no_copy(what):
    return TypeError(f"a {type(what).__name__} cannot be copied or pickled")


def _forgotten(what, why):
    if not sys.is_finalizing():
        warnings.warn(f"unclosed {what!r}: {why}", ResourceWarning, source=what)
