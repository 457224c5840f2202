import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

_Path: TypeAlias = str | os.PathLike[str]

def seal(
    src: _Path,
    dest: _Path,
    to: _Path | Iterable[_Path],
    *,
    job_key: _Path | None = None,
    shards: int | None = None,
    engine: Literal["ray", "local"] = "ray",
    address: str | None = None,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    force: bool = False,
    options: Sequence[str] = (),
) -> dict[str, Any]: ...
def open(
    src: _Path,
    dest: _Path,
    identity: _Path | Iterable[_Path] = (),
    *,
    job_key: _Path | None = None,
    shards: int | None = None,
    engine: Literal["ray", "local"] = "ray",
    address: str | None = None,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    force: bool = False,
    options: Sequence[str] = (),
) -> dict[str, Any]: ...
def main(words: Sequence[str] | None = None) -> int: ...
