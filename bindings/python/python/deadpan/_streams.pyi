import io
from types import TracebackType
from typing import Protocol

from deadpan import _Keys, _Path, _To

class _Writable(Protocol):
    def write(self, data: bytes, /) -> int | None: ...

class Reader(io.RawIOBase):
    def __init__(self, path: _Path, keys: _Keys) -> None: ...
    def __len__(self) -> int: ...

class Writer(io.RawIOBase):
    def __init__(
        self, file: _Writable, to: _To, *, age: bool = False, hide_length: bool = False, mixed: bool = False
    ) -> None: ...
    def abandon(self) -> None: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...
