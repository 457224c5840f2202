import pathlib
from collections.abc import Iterable

from typing_extensions import Buffer

from deadpan import _Path

def hide(
    data: Buffer, output: _Path, *, size: tuple[int, int] | None = None, spares: int = 0, replace: bool = False
) -> list[pathlib.Path]: ...
def reveal(pictures: _Path | Iterable[_Path]) -> bytes: ...
