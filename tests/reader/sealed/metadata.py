"""The metadata box, which describes what was sealed."""

from dataclasses import asdict, dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from .fields import Fields
from .header import PREAMBLE
from .refusal import Refused, require

KINDS = ["bytes", "file", "folder"]
TIME, MODE, NAME, COMPRESSION = 1, 2, 4, 8


@dataclass
class Metadata:
    kind: str
    padded: bool
    seconds: int | None = None
    nanoseconds: int | None = None
    mode: int | None = None
    name: bytes | None = None
    compressed: bool | None = None

    # The bytes of the fields exactly as they are in the box, because a signature covers these bytes. `raw` is not a
    # field of the dataclass.
    raw = b""

    def described(self) -> dict:
        known = {field: value for field, value in asdict(self).items() if value is not None}
        if self.name is not None:
            # Names that are not UTF-8 are kept as text in the same way as in Python's file functions.
            known["name"] = self.name.decode("utf-8", "surrogateescape")
        return known


def open_box(box: bytes, key: bytes, preamble: bytes = PREAMBLE) -> Metadata:
    try:
        fields = Fields(AESGCM(key).decrypt(box[:12], box[12:], preamble))
    except InvalidTag:
        raise Refused("the box with the metadata was changed") from None
    return read(fields)


def read(fields: Fields) -> Metadata:
    kind, padding, follows = fields.number(1), fields.number(1), fields.number(1)
    require(kind < len(KINDS), "a kind that this reader does not know")
    require(padding <= 1, "a padding that this reader does not know")
    require(follows < 16, "metadata that this reader does not know")
    found = Metadata(KINDS[kind], padding == 1)
    if follows & TIME:
        found.seconds, found.nanoseconds = fields.number(8, signed=True), fields.number(4)
        require(found.nanoseconds < 10**9, "a second of too many nanoseconds")
    if follows & MODE:
        found.mode = fields.number(2)
        require(found.mode <= 0o7777, "permission bits that are none")
    if follows & NAME:
        length = fields.number(2)
        require(1 <= length <= 4096, "a name of a length out of bounds")
        found.name = fields.take(length)
        harmless = found.name not in (b".", b"..") and not any(symbol in found.name for symbol in b"/\\\0")
        require(harmless, "a name that leads elsewhere")
    if follows & COMPRESSION:
        require(fields.number(1) == 1, "a compression that this reader does not know")
        found.compressed = True
    found.raw = fields.data[: fields.at]
    padding = fields.rest()
    # Each set of fields has only one valid encoding: the box must be the smallest box that holds the fields.
    require(len(padding) < 256 and not any(padding), "metadata that go on after their end")
    return found
