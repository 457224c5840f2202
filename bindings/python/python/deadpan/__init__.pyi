import os
import pathlib
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias, TypedDict, final

from typing_extensions import Buffer

from deadpan import base64 as base64
from deadpan import cluster as cluster
from deadpan import ct as ct
from deadpan import lab as lab
from deadpan import pad as pad
from deadpan import picture as picture
from deadpan._cost import MaxCost as MaxCost
from deadpan._inspect import Description as Description
from deadpan._inspect import Entry as Entry
from deadpan._inspect import RecipientInfo as RecipientInfo
from deadpan._inspect import inspect as inspect
from deadpan._streams import Reader as Reader
from deadpan._streams import Writer as Writer

__version__: str

_Path: TypeAlias = str | os.PathLike[str]
_Kind: TypeAlias = Literal["P-256", "X25519", "ML-KEM-768", "ML-KEM-1024", "ML-KEM-768+P-256", "X-Wing"]
_Mode: TypeAlias = Literal["hybrid", "ecc", "pqc"] | _Kind
_Progress: TypeAlias = Callable[[int], object]
_Recipient: TypeAlias = PublicKey | PrivateKey | Passphrase | Session | str | bytes
_To: TypeAlias = _Recipient | Iterable[_Recipient]
_Key: TypeAlias = PrivateKey | Passphrase | Session
_Keys: TypeAlias = _Key | Iterable[_Key]
_MaxCost: TypeAlias = MaxCost | tuple[int, int]

class Error(Exception): ...
class NotSealedError(Error): ...
class NewerError(Error): ...
class TamperedError(Error): ...
class TruncatedError(TamperedError): ...
class SignatureError(TamperedError): ...
class LimitError(Error): ...
class NoKeyError(Error): ...
class PassphraseError(NoKeyError): ...
class CostlyError(NoKeyError): ...
class InvalidKeyError(Error): ...
class LockedKeyError(InvalidKeyError): ...
class StoppedError(Error): ...

@final
class PrivateKey:
    @staticmethod
    def generate(mode: _Mode = "hybrid") -> PrivateKey: ...
    @staticmethod
    def read(text: str | Buffer, passphrase: Passphrase | None = None) -> PrivateKey: ...
    def to_pem(self, passphrase: Passphrase | None = None) -> bytes: ...
    def to_age(self) -> bytes: ...
    @property
    def public(self) -> PublicKey: ...

@final
class PublicKey:
    @staticmethod
    def read(text: str | Buffer) -> PublicKey: ...
    @staticmethod
    def read_all(text: str | Buffer) -> list[PublicKey]: ...
    def to_pem(self) -> str: ...
    def to_age(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def kind(self) -> _Kind: ...

@final
class Passphrase:
    def __new__(cls, text: str | Buffer) -> Passphrase: ...

@final
class Session:
    def __new__(cls, passphrase: Passphrase) -> Session: ...

def seal(
    data: Buffer,
    to: _To,
    *,
    age: bool = False,
    hide_length: bool = False,
    allow_mixed: bool = False,
    compress: int | None = None,
    progress: _Progress | None = None,
    threads: int = 0,
) -> bytes: ...
def open(
    data: Buffer,
    keys: _Keys,
    *,
    max_cost: _MaxCost | None = None,
    progress: _Progress | None = None,
    threads: int = 0,
) -> bytes: ...
def sealed_length(
    length: int,
    to: _To,
    *,
    age: bool = False,
    hide_length: bool = False,
    allow_mixed: bool = False,
    compress: int | None = None,
) -> int: ...
def seal_into(
    data: Buffer,
    to: _To,
    out: Buffer,
    *,
    age: bool = False,
    hide_length: bool = False,
    allow_mixed: bool = False,
    compress: int | None = None,
    progress: _Progress | None = None,
    threads: int = 0,
) -> int: ...
def open_into(
    data: Buffer,
    keys: _Keys,
    out: Buffer,
    *,
    max_cost: _MaxCost | None = None,
    progress: _Progress | None = None,
    threads: int = 0,
) -> int: ...
def seal_file(
    input: _Path,
    output: _Path,
    to: _To,
    *,
    replace: bool = False,
    age: bool = False,
    hide_length: bool = False,
    allow_mixed: bool = False,
    compress: int | None = None,
    progress: _Progress | None = None,
) -> None: ...
def open_file(
    input: _Path,
    output: _Path,
    keys: _Keys,
    *,
    replace: bool = False,
    max_cost: _MaxCost | None = None,
    progress: _Progress | None = None,
) -> None: ...
def seal_folder(
    folder: _Path,
    output: _Path,
    to: _To,
    *,
    exclude: _Path | Sequence[_Path] | None = None,
    gitignore: bool = False,
    replace: bool = False,
    hide_length: bool = False,
    allow_mixed: bool = False,
    compress: int | None = None,
    progress: _Progress | None = None,
) -> list[str]: ...
def open_folder(
    input: _Path,
    folder: _Path,
    keys: _Keys,
    *,
    only: _Path | Sequence[_Path] | None = None,
    max_cost: _MaxCost | None = None,
    progress: _Progress | None = None,
) -> None: ...
def list_folder(input: _Path, keys: _Keys, *, max_cost: _MaxCost | None = None) -> list[Entry]: ...
def random_bytes(length: int) -> bytes: ...

class _Damage(TypedDict):
    whole: bool
    sidecar_whole: bool
    fixable: bool
    missing: list[tuple[int, int]]
    moved: int

def repair_make(
    path: _Path,
    percent: int = 10,
    *,
    sidecar: _Path | None = None,
    replace: bool = False,
    progress: _Progress | None = None,
) -> pathlib.Path: ...
def repair_check(path: _Path, *, sidecar: _Path | None = None, progress: _Progress | None = None) -> _Damage: ...
def repair_fix(
    path: _Path,
    output: _Path,
    *,
    sidecar: _Path | None = None,
    replace: bool = False,
    progress: _Progress | None = None,
) -> bool: ...
