"""Sealed files that a file system reads: each is unlocked once, and its index is read once."""

import os
import threading
import weakref

from deadpan._native import NativeSealed, NoKeyError
from deadpan._own_keys import key_folder, own_keys
from deadpan._streams import Reader
from deadpan._tree import Tree


class Keys:
    """The keys of a file system: given keys, or else the user's own keys at the time of their first use."""

    def __init__(self, keys, max_cost):
        self.given = keys is not None
        is_several = hasattr(keys, "__iter__") and not isinstance(keys, (str, bytes))
        # An iterator of keys can be read only once.
        self._keys = list(keys) if is_several else keys
        self._max_cost = max_cost if max_cost is None else tuple(max_cost)

    def unlock(self, source):
        """Opens the header of sealed data."""
        if self.given:
            return NativeSealed(source, self._keys, max_cost=self._max_cost)
        folder = key_folder()
        keys, locked = own_keys(folder)
        try:
            if keys:
                return NativeSealed(source, keys, max_cost=self._max_cost)
            where = repr(str(folder)) if folder else "the key folder"
            why = f"{where} has no key that opens files without a passphrase"
        except NoKeyError as error:
            why = str(error)
        advice = "pass a key: storage_options={'keys': deadpan.PrivateKey.read(...)}"
        if locked:
            advice += f"; a passphrase protects {', '.join(repr(path.name) for path in locked[:5])} in {str(folder)!r}"
        raise NoKeyError(f"{why}; {advice}")


class SealedFile:
    """One sealed file. ``source`` is a path, or a function that returns a binary file object for one reader.

    Several threads may use it.
    """

    def __init__(self, source, keys):
        self._open = source if callable(source) else None
        self._lock = threading.RLock()
        self._tree = self._length = None
        if self._open is None:
            self._native = keys.unlock(source)
        else:
            with self._open() as file:
                self._native = keys.unlock(file)

    @property
    def is_folder(self):
        """Whether it holds a folder."""
        return self._native.is_folder

    @property
    def tree(self):
        """The entries of the folder."""
        with self._lock:
            if self._tree is None:
                self._tree = Tree(self._with_source(self._native.entries))
            return self._tree

    @property
    def length(self):
        """The length of the data."""
        with self._lock:
            if self._length is None:
                self._length = self._with_source(lambda source: self._native.reader(None, source).length)
            return self._length

    def reader(self, entry):
        """Returns a file object for a file in the folder, or for all data if ``entry`` is ``None``."""
        source = self._open() if self._open else None
        try:
            return EntryReader(self._native.reader(entry, source), source)
        except BaseException:
            if source is not None:
                source.close()
            raise

    def _with_source(self, work):
        if self._open is None:
            return work(None)
        with self._open() as source:
            return work(source)


class EntryReader(Reader):
    """A `Reader` of a file in a file system. It closes its source, also when it is forgotten."""

    def __init__(self, native, source):
        self._start(native, source)

    @property
    def size(self):
        """The length of the data."""
        return len(self)


class SharedFile:
    """One of several readers of a file object, with a position of its own, for several threads.

    ``closes`` says whether closing the reader also closes the file object.
    """

    # The locks of file objects by their `id`, because several file systems may read the same file object. A lock lives
    # as long as a reader of its file object.
    _locks = weakref.WeakValueDictionary()
    _guard = threading.Lock()

    def __init__(self, file, closes):
        self._file, self._closes, self._position = file, closes, 0
        with self._guard:
            self._lock = self._locks.setdefault(id(file), threading.RLock())

    def seek(self, offset, whence=os.SEEK_SET):
        """Sets the position, and returns it."""
        with self._lock:
            if whence == os.SEEK_CUR:
                offset, whence = offset + self._position, os.SEEK_SET
            self._position = self._file.seek(offset, whence)
            if self._position is None:
                # `mmap.seek` returns `None` before Python 3.13.
                self._position = self._file.tell()
            return self._position

    def read(self, size):
        """Reads at its own position."""
        with self._lock:
            self._file.seek(self._position)
            data = self._file.read(size)
            self._position += len(data or b"")
            return data

    def close(self):
        """Closes the file object, if the reader owns it."""
        if self._closes:
            self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
