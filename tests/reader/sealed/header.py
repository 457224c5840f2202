"""The header. Its lengths are all checked before any cryptography."""

import hashlib
import hmac
from dataclasses import dataclass

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from .fields import Fields
from .refusal import require
from .source import Disk, Memory

PREAMBLE = bytes.fromhex("8944504e0d0a1a0a") + b"\x01\x00"
SIGNED = 1  # flag bit 0: a trailer follows the payload
FIXED = 16  # preamble, header length, count
MAC = 32
SMALLEST_BOX = 4 + 28 + 256
LARGEST_BOX = 28 + 4352
SMALLEST_RECIPIENT = 4 + 80
LARGEST_HEADER = 1 << 20
PASSPHRASE, SESSION, SHARE = 0xFF01, 0xFF02, 0xFF04

# The length of the body of each type of recipient.
BODIES = {
    0x0010: 113,
    0x0020: 80,
    0x0041: 1136,
    0x0042: 1616,
    0x0050: 1201,
    0x647A: 1168,
    PASSPHRASE: 108,
    SESSION: 140,
}
# The number of bytes that precede the sealed share in the body of an entry for a share.
SHARE_HEAD = 3 + 2 + 32 + 32


@dataclass
class Header:
    raw: bytes
    preamble: bytes
    recipients: list[tuple[int, bytes]]
    box: bytes

    @property
    def shares(self) -> list[bytes]:
        return [body for kind, body in self.recipients if kind == SHARE]

    @property
    def signed(self) -> bool:
        return self.preamble[9] == SIGNED

    def verify(self, file_key: bytes) -> None:
        mac = hmac.new(derive(file_key, "deadpan v1 header", self.preamble), self.raw[:-MAC], hashlib.sha256).digest()
        require(hmac.compare_digest(mac, self.raw[-MAC:]), "the header was changed")


def derive(file_key: bytes, label: str, preamble: bytes = PREAMBLE) -> bytes:
    return HKDF(hashes.SHA256(), 32, salt=preamble, info=label.encode()).derive(file_key)


def read(source: Disk | Memory) -> Header:
    start = Fields(source.take(0, FIXED))
    require(start.take(8) == PREAMBLE[:8], "not a sealed file")
    require(start.number(1) == PREAMBLE[8], "a version that this reader does not know")
    require(start.number(1) <= SIGNED, "flags that this reader does not know")
    length, count = start.number(4), start.number(2)
    room = length - FIXED - SMALLEST_BOX - MAC
    require(SMALLEST_RECIPIENT <= room and length <= LARGEST_HEADER, "a header length out of bounds")
    require(1 <= count <= room // SMALLEST_RECIPIENT, "more recipients than the header has room for, or none")

    raw = source.take(0, length)
    fields = Fields(raw[FIXED:-MAC])
    recipients = [read_recipient(fields) for _ in range(count)]
    require(sum(kind in (PASSPHRASE, SESSION) for kind, _ in recipients) <= 1, "more than one passphrase")
    check_group(recipients)
    box = fields.number(4)
    require(256 <= box - 28 and box <= LARGEST_BOX, "a metadata box of a length out of bounds")
    require((box - 28) % 256 == 0, "a metadata box of a length that is not written")
    box = fields.take(box)
    require(not any(fields.rest()), "slack that is not zero")
    return Header(raw, raw[: len(PREAMBLE)], recipients, box)


def read_recipient(fields: Fields) -> tuple[int, bytes]:
    kind, length = fields.number(2), fields.number(2)
    if kind == SHARE:
        return kind, read_share(fields.take(length))
    require(kind in BODIES, "a recipient of a type that this reader does not know")
    require(length == BODIES[kind], "a recipient of another length than its type asks for")
    body = fields.take(length)
    if kind in (PASSPHRASE, SESSION):
        check_cost(Fields(body))
    return kind, body


def read_share(body: bytes) -> bytes:
    fields = Fields(body)
    needed, of, index, kem = (fields.number(size) for size in (1, 1, 1, 2))
    require(2 <= needed <= of and 1 <= index <= of, "a share whose numbers are out of bounds")
    require(kem in BODIES and kem not in (PASSPHRASE, SESSION), "a share for an unknown kind of key")
    require(len(body) == SHARE_HEAD + BODIES[kem], "a share of another length than its kind of key asks for")
    return body


def check_group(recipients: list[tuple[int, bytes]]) -> None:
    """Shares are one group: all of them, one after another, in the order of their numbers, alike in the rest."""
    places = [place for place, (kind, _) in enumerate(recipients) if kind == SHARE]
    if not places:
        return
    first = recipients[places[0]][1]
    require(len(places) == first[1], "shares are missing, or there are more than announced")
    require(places == list(range(places[0], places[0] + len(places))), "a recipient between shares")
    for index, place in enumerate(places, 1):
        body = recipients[place][1]
        require(body[:3] == first[:2] + bytes([index]), "shares with other numbers, or not in their order")
        require(body[5:37] == first[5:37], "shares of different file keys")


def check_cost(body: Fields) -> None:
    """Checks the cost in each file, so that the same files are refused whatever key opens them."""
    memory, passes, lanes = (body.number(4) for _ in range(3))
    require(1 <= lanes <= 64 and 1 <= passes <= 64, "a passphrase's cost out of bounds")
    require(8 * lanes <= memory <= 1 << 22 and memory * passes <= 1 << 24, "a passphrase's cost out of bounds")
