import datetime
import os
from collections.abc import Callable, Iterator
from typing import IO, Any, Literal, NoReturn

from fsspec import AbstractFileSystem

from deadpan import _Keys, _MaxCost
from deadpan._sealed_files import EntryReader

__all__ = ["SealedFileSystem"]

class SealedFileSystem(AbstractFileSystem):
    def __init__(
        self,
        fo: str | os.PathLike[str] | IO[bytes] | None = None,
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        *,
        keys: _Keys | None = None,
        max_cost: _MaxCost | None = None,
        **storage_options: Any,
    ) -> None: ...
    @property
    def storage_options(self) -> dict[str, Any]: ...
    @storage_options.setter
    def storage_options(self, options: dict[str, Any]) -> None: ...
    def info(self, path: str, **kwargs: Any) -> dict[str, Any]: ...
    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> Any: ...
    def walk(
        self,
        path: str,
        maxdepth: int | None = None,
        topdown: bool = True,
        on_error: Literal["omit", "raise"] | Callable[[OSError], object] = "omit",
        **kwargs: Any,
    ) -> Iterator[tuple[str, Any, Any]]: ...
    def find(
        self, path: str, maxdepth: int | None = None, withdirs: bool = False, detail: bool = False, **kwargs: Any
    ) -> Any: ...
    def glob(self, path: str, maxdepth: int | None = None, **kwargs: Any) -> Any: ...
    def exists(self, path: str, **kwargs: Any) -> bool: ...
    def isfile(self, path: str) -> bool: ...
    def modified(self, path: str) -> datetime.datetime: ...
    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes: ...
    def invalidate_cache(self, path: str | None = None) -> None: ...
