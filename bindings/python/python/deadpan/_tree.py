"""The entries of a sealed folder as fsspec describes files."""

from errno import EISDIR, ENOENT
from os import strerror

# A link is followed for at most this number of steps. Each component of a path is a step.
_STEPS = 1000


class Tree:
    """Finds entries by path and by folder. ``rows`` are those of ``NativeSealed.entries``."""

    def __init__(self, rows):
        self._rows = {row[0]: row for row in rows}
        self._children = {}
        for path in self._rows:
            if path:
                self._children.setdefault(path.rpartition("/")[0], []).append(path)

    def info(self, path):
        """Describes an entry. A symbolic link to a file is described as the file; other links have the type "other"."""
        row = self._rows.get(path)
        if row is None:
            raise FileNotFoundError(ENOENT, strerror(ENOENT), path)
        _, kind, size, mode, modified, target = row
        if kind == "folder":
            return {"name": path, "size": 0, "type": "directory", "mode": mode, "mtime": modified}
        info = {"name": path, "size": size, "type": "file", "mode": mode, "mtime": modified}
        if target is None:
            return info
        file = self._follow(path)
        if file is None:
            info.update(type="other", size=0)
        else:
            info.update(size=file[2], mode=file[3], mtime=file[4])
        if self._link(row) is not None:
            info.update(islink=True, destination=target)
        return info

    def ls(self, path):
        """Describes the entries in a folder, or one file."""
        info = self.info(path)
        if info["type"] != "directory":
            return [info]
        return [self.info(child) for child in self._children.get(path, ())]

    def file(self, path):
        """Returns the path of the entry with the data of a file."""
        kind = self.info(path)["type"]
        if kind == "directory":
            raise IsADirectoryError(EISDIR, strerror(EISDIR), path)
        if kind == "other":
            raise FileNotFoundError(ENOENT, "the link leads to no file in the sealed folder", path)
        row = self._rows[path]
        return path if row[5] is None else self._follow(path)[0]

    def _link(self, row):
        """Returns the target if the entry is a symbolic link, or a hard link to one."""
        if row[1] == "hardlink":
            row = self._rows.get(row[5], row)
        return row[5] if row[1] == "symlink" else None

    def _follow(self, path):
        """Follows a link within the folder, and returns the entry of the file at its end, or ``None``."""
        rest, here = path.split("/")[::-1], []
        row = self._rows[""]
        for _ in range(_STEPS):
            if not rest:
                break
            part = rest.pop()
            if part == ".." and not here:
                return None
            if part == "..":
                here.pop()
            elif part not in ("", "."):
                here.append(part)
            row = self._rows.get("/".join(here))
            target = None if row is None else self._link(row)
            if row is None or target is not None and target.startswith("/"):
                return None
            if target is not None:
                here.pop()
                rest.extend(reversed(target.split("/")))
            if len(rest) > _STEPS:
                return None
        if rest:
            return None
        if row[1] == "hardlink":
            row = self._rows.get(row[5], row)
        return row if row[1] == "file" else None
