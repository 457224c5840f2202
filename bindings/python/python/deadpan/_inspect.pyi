from typing import Any, Literal, TypedDict

from deadpan import _Keys, _Path

class Entry(TypedDict):
    path: str
    kind: Literal["file", "folder", "other"]
    size: int
    mode: int

def inspect(path: _Path, keys: _Keys | None = None) -> dict[str, Any]: ...
