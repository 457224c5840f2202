"""A file system of fsspec for sealed files, so that pandas, pyarrow and other libraries read them by URL. Read-only.

- ``deadpan://table.parquet.dpn``: the data of a sealed file
- ``deadpan://photos.dpn::cats/cat.jpg``: a file in a sealed folder
- ``deadpan://cats/cat.jpg::s3://bucket/photos.dpn``: the same in the order of fsspec, whose last part may be any URL

Lists of URLs must be in the order of fsspec, which takes the last part of the first URL for all of them.

The option ``keys`` is that of ``deadpan.open``. Without it, the user's own keys open the files: those in the key
folder of the command line that no passphrase protects. Symbolic links to files within the sealed folder are followed;
other links have the type "other", and cannot be opened.
"""

import datetime
import errno
import glob
import os
import threading
from typing import NamedTuple

from fsspec import AbstractFileSystem
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.utils import stringify_path

from deadpan import Error, NotSealedError
from deadpan._inspect import inspect
from deadpan._sealed_files import Keys, SealedFile, SharedFile

__all__ = ["SealedFileSystem"]

# Without `fo`, a file system keeps this number of sealed files open.
_MOST = 16


class _Entries(AbstractFileSystem):
    """One sealed file. Paths are those of entries; the path of the folder itself, and of a file's data, is empty."""

    protocol = "deadpan-entries"
    cachable = False

    def __init__(self, sealed):
        super().__init__()
        self._sealed = sealed

    @classmethod
    def _strip_protocol(cls, path):
        return [cls._strip_protocol(one) for one in path] if isinstance(path, list) else path.rstrip("/")

    def info(self, path, **kwargs):
        path = self._strip_protocol(path)
        if self._sealed.is_folder:
            return self._sealed.tree.info(path)
        if path:
            raise FileNotFoundError(errno.ENOENT, "the sealed data are a file, and hold no folder", path)
        return {"name": "", "size": self._sealed.length, "type": "file"}

    def ls(self, path, detail=True, **kwargs):
        path = self._strip_protocol(path)
        infos = self._sealed.tree.ls(path) if self._sealed.is_folder else [self.info(path)]
        return infos if detail else [info["name"] for info in infos]

    def reader(self, path):
        path = self._strip_protocol(path)
        if self._sealed.is_folder:
            return self._sealed.reader(self._sealed.tree.file(path))
        self.info(path)
        return self._sealed.reader(None)


class _Place(NamedTuple):
    """A path in a sealed file. ``outer`` is the path of the sealed file system for the entry ``inner``."""

    entries: _Entries
    entry: str
    outer: str
    inner: str
    joint: str

    def name(self, entry):
        """Returns the path in the file system for the path of an entry."""
        rest = entry.removeprefix(self.inner)
        return self.outer + (self.joint if rest else "") + rest

    def named(self, info):
        return {**info, "name": self.name(info["name"])}


class SealedFileSystem(AbstractFileSystem):
    """Sealed files, read-only.

    Without ``fo``, paths are ``SEALED``, or ``SEALED::ENTRY`` for a file in a sealed folder. With ``fo``, which is a
    path, a URL or a binary file object that can seek, paths are those of entries; if ``fo`` is no folder, the path is
    empty. ``target_protocol`` and ``target_options`` are for the URL, as in fsspec's other file systems.

    ``keys`` and ``max_cost`` are those of ``deadpan.open``. ``storage_options`` and JSON leave out the keys, and a
    file system with keys is not pickled.
    """

    protocol = "deadpan"
    cachable = False
    root_marker = ""

    def __init__(
        self, fo=None, target_protocol=None, target_options=None, *, keys=None, max_cost=None, **storage_options
    ):
        super().__init__(**storage_options)
        self._keys = Keys(keys, max_cost)
        self._lock = threading.RLock()
        self._files = {}
        self._only = None
        self._target = None if fo is None or fo == "" else (fo, target_protocol, target_options or {})
        # For a URL `A::B` of two local paths: the entry `B` of the sealed file `A`, if that is what the URL means.
        self._alias = None
        # What `B` is as an entry, until the first path tells what the URL means.
        self._other_entry = _relative(fo) if target_protocol in ("file", "local") and isinstance(fo, str) else None

    @property
    def storage_options(self):
        """The options without the keys."""
        return self._shown_options

    @storage_options.setter
    def storage_options(self, options):
        self._shown_options = {name: value for name, value in options.items() if name != "keys"}

    # The base class compares the texts of options, which do not tell one passphrase from another.
    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return id(self)

    def __reduce__(self):
        if self._keys.given:
            advice = "without keys, each process takes the keys of its own user, from the key folder"
            raise TypeError(f"a file system with keys is not pickled, because private keys are not: {advice}")
        return super().__reduce__()

    @classmethod
    def _strip_protocol(cls, path):
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        # Unlike fsspec's own method, this one leaves names that begin with `deadpan::` alone.
        return stringify_path(path).removeprefix("deadpan://").rstrip("/")

    def info(self, path, **kwargs):
        """Describes a file or folder: ``name``, ``size``, ``type``, and for entries ``mode`` and ``mtime``."""
        place = self._at(path)
        return place.named(place.entries.info(place.entry))

    def ls(self, path, detail=True, **kwargs):
        """Lists a folder in a sealed file."""
        place = self._at(path)
        infos = [place.named(info) for info in place.entries.ls(place.entry)]
        return infos if detail else [info["name"] for info in infos]

    def walk(self, path, maxdepth=None, topdown=True, on_error="omit", **kwargs):
        """Lists a folder and all folders in it, like ``os.walk``."""
        try:
            place = self._at(path)
        except OSError as error:
            if on_error == "raise":
                raise
            if callable(on_error):
                on_error(error)
            return
        for folder, *both in place.entries.walk(place.entry, maxdepth, topdown, on_error, **kwargs):
            if kwargs.get("detail"):
                both = [{name: place.named(info) for name, info in infos.items()} for infos in both]
            yield place.name(folder), *both

    def find(self, path, maxdepth=None, withdirs=False, detail=False, **kwargs):
        """Lists all files in a folder and in the folders in it."""
        try:
            place = self._at(path)
        except FileNotFoundError:
            return {} if detail else []
        found = place.entries.find(place.entry, maxdepth, withdirs, detail=True, **kwargs)
        named = {place.name(name): place.named(info) for name, info in found.items()}
        return named if detail else list(named)

    def glob(self, path, maxdepth=None, **kwargs):
        """Lists entries whose paths match a pattern, or sealed files on the disk."""
        detail = kwargs.pop("detail", False)
        path = stringify_path(path)
        end = "/" if path.endswith("/") else ""
        try:
            place = self._at(path)
        except FileNotFoundError:
            found = [] if self._target else sorted(filter(os.path.isfile, glob.glob(self._strip_protocol(path))))
            return {name: self.info(name) for name in found} if detail else found
        if self._alias:
            pattern = glob.escape(place.inner) + place.entry.removeprefix(place.inner)
        else:
            pattern = place.entry
        found = place.entries.glob(pattern + end, maxdepth, detail=True, **kwargs)
        named = {place.name(name): place.named(info) for name, info in found.items()}
        return named if detail else list(named)

    def exists(self, path, **kwargs):
        """Whether there is such a file or folder. Unlike fsspec's own method, raises the errors of sealed data."""
        try:
            self.info(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def isfile(self, path):
        """Whether the path is a file. Unlike fsspec's own method, raises the errors of sealed data."""
        return self.exists(path) and self.info(path)["type"] == "file"

    def modified(self, path):
        """Returns the time of the last change of an entry."""
        seconds = self.info(path).get("mtime")
        if seconds is None:
            raise NotImplementedError("only entries of sealed folders have a time")
        return datetime.datetime.fromtimestamp(seconds, tz=datetime.timezone.utc)

    def cat_file(self, path, start=None, end=None, **kwargs):
        """Returns a part of a file, as in a slice."""
        with self._open(path) as file:
            begin, stop, _ = slice(start, end).indices(len(file))
            file.seek(begin)
            return file.read(max(stop - begin, 0))

    def invalidate_cache(self, path=None):
        """Forgets the headers and indexes that were read."""
        with self._lock:
            self._files.clear()
            self._only = None

    def _open(self, path, mode="rb", **kwargs):
        if mode != "rb":
            self._refuse(path)
        place = self._at(path)
        return place.entries.reader(place.entry)

    def _refuse(self, path="", *args, **kwargs):
        """Sealed files are not changed here; ``deadpan.seal_file`` and ``deadpan.seal_folder`` make them."""
        why = "sealed files are read-only here, and deadpan.seal_file and deadpan.Writer make them"
        raise OSError(errno.EROFS, why, stringify_path(path))

    mkdir = makedirs = rmdir = rm = rm_file = _rm = cp_file = touch = put_file = pipe_file = _refuse

    def _at(self, path):
        """Finds the sealed file and the entry for a path."""
        path = self._strip_protocol(path)
        with self._lock:
            if self._other_entry is not None:
                self._decide(path)
            if self._alias:
                sealed, entry = self._alias
                if path != sealed and not path.startswith(sealed + "/"):
                    raise FileNotFoundError(errno.ENOENT, f"the URL names {sealed!r} alone", path)
                return _Place(self._on_disk(sealed), entry + path.removeprefix(sealed), sealed, entry, "")
            if self._target:
                if self._only is None:
                    self._only = _Entries(SealedFile(_source(*self._target), self._keys))
                return _Place(self._only, path.lstrip("/"), "", "", "")
            sealed, entry = _split(path)
            return _Place(self._on_disk(sealed), entry, sealed, "", "::")

    def _on_disk(self, path):
        """Opens a sealed file on the disk, or finds it among those that are open."""
        path = os.path.expanduser(path)
        about = os.stat(path)
        key = (os.path.abspath(path), about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns)
        entries = self._files.pop(key, None)
        if entries is None:
            entries = _Entries(SealedFile(path, self._keys))
        # The last one is the one that was used last.
        self._files[key] = entries
        if len(self._files) > _MOST:
            del self._files[next(iter(self._files))]
        return entries

    def _decide(self, path):
        """Tells which part of a URL `A::B` of two local paths is the sealed file, and which the entry.

        In fsspec's order `B` is the sealed file, so fsspec hands over `B` as `fo`. The first path is `A`.
        """
        fo, entry = self._target[0], self._other_entry
        first, last = os.path.isfile(os.path.expanduser(path)), os.path.isfile(fo)
        if first and last:
            first, last = _is_sealed(path), _is_sealed(fo)
            if first and last:
                one = f"fsspec.filesystem('deadpan').open({f'{path}::{entry}'!r}) opens {entry!r} in {path!r}"
                other = f"fsspec.filesystem('deadpan', fo={entry!r}).open({path!r}) opens {path!r} in {entry!r}"
                raise ValueError(f"{path!r} and {entry!r} are both sealed files: {one}, and {other}")
        elif not first and not last:
            raise FileNotFoundError(errno.ENOENT, f"neither this file is there, nor {entry!r}", path)
        self._other_entry = None
        if first:
            self._alias = (path, entry)


def _relative(path):
    """Returns a local path as fsspec makes it, relative to the folder in which the program runs, or ``None``."""
    here = LocalFileSystem._strip_protocol(".").rstrip("/") + "/"
    return path.removeprefix(here) if path.startswith(here) and path != here else None


def _is_sealed(path):
    try:
        inspect(os.path.expanduser(path))
    except NotSealedError:
        return False
    except Error:
        # Sealed, but damaged or by a newer version.
        return True
    return True


def _split(path):
    """Splits `SEALED::ENTRY`. Names may contain `::`, so the sealed file is the part that is a file on the disk."""
    parts = path.split("::")
    splits = [("::".join(parts[:count]), "::".join(parts[count:])) for count in range(1, len(parts) + 1)]
    found = [(sealed, entry) for sealed, entry in splits if os.path.isfile(os.path.expanduser(sealed))]
    if not found:
        raise FileNotFoundError(errno.ENOENT, "there is no such sealed file: paths are SEALED or SEALED::ENTRY", path)
    if len(found) > 1:
        advice = "fsspec.filesystem('deadpan', fo=SEALED) takes paths of entries alone"
        raise ValueError(f"{path!r} may mean {' or '.join(repr(sealed) for sealed, _ in found)}: {advice}")
    sealed, entry = found[0]
    return sealed, entry.lstrip("/")


def _source(fo, protocol, options):
    """Returns what a `SealedFile` reads: a path, or a function that opens the file anew for each reader."""
    if hasattr(fo, "read") and hasattr(fo, "seek"):
        return lambda: SharedFile(fo, closes=False)
    path = os.fspath(fo)
    if protocol in ("file", "local") or protocol is None and os.path.isfile(path):
        return path
    target, inner = url_to_fs(path, **({"protocol": protocol} if protocol else {}), **options)
    if isinstance(target, LocalFileSystem):
        return inner
    if isinstance(target, MemoryFileSystem):
        # Each `open` returns the same file object at its beginning, while other threads read from it.
        file = target.open(inner, "rb")
        return lambda: SharedFile(file, closes=False)
    return lambda: SharedFile(target.open(inner, "rb"), closes=True)
