from typing import Literal, NotRequired, TypedDict

from deadpan import _Keys, _MaxCost, _Path

class Entry(TypedDict):
    path: str
    kind: Literal["file", "folder", "other"]
    size: int
    mode: int
    modified: float

class RecipientInfo(TypedDict):
    type: Literal["key", "passphrase", "other"]
    kind: NotRequired[str]
    kem: NotRequired[int]
    memory: NotRequired[int]
    passes: NotRequired[int]
    lanes: NotRequired[int]

class Description(TypedDict):
    format: Literal["deadpan", "age"]
    length: int
    header_length: int
    signed: bool
    recipients: list[RecipientInfo]
    kind: NotRequired[Literal["bytes", "file", "folder"]]
    name: NotRequired[str | None]
    modified: NotRequired[float | None]
    mode: NotRequired[int | None]
    hides_length: NotRequired[bool]
    compressed: NotRequired[bool]

def inspect(path: _Path, keys: _Keys | None = None, *, max_cost: _MaxCost | None = None) -> Description: ...
