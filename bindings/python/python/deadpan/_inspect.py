"""The description of sealed files."""

from typing import Literal, NotRequired, TypedDict

from deadpan._native import inspect as _inspect


class Entry(TypedDict):
    """An entry of a sealed folder. ``modified`` is in seconds since 1970."""

    path: str
    kind: Literal["file", "folder", "other"]
    size: int
    mode: int
    modified: float


class RecipientInfo(TypedDict):
    """A recipient in a header. A key has ``kind`` and ``kem``, and a passphrase may have the cost of its hash."""

    type: Literal["key", "passphrase", "other"]
    kind: NotRequired[str]
    kem: NotRequired[int]
    memory: NotRequired[int]
    passes: NotRequired[int]
    lanes: NotRequired[int]


class Description(TypedDict):
    """The result of `inspect`. The items from ``kind`` on are there if a key was given."""

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


def inspect(path, keys=None, *, max_cost=None):
    """Describes a sealed file: what everybody can see, and with a key that opens it also its name, time and mode.

    ``max_cost`` is that of ``deadpan.open``.
    """
    # The import is here, so that programs that inspect nothing start faster.
    import json

    return json.loads(_inspect(path, keys, max_cost=max_cost))
