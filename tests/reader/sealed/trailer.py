"""The trailer of a signed file: hashes, statement and signatures."""

import hashlib
import hmac
from dataclasses import dataclass

from blake3 import blake3
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from . import sshsig
from .fields import Fields
from .header import Header, derive
from .refusal import Refused, require
from .source import Disk, Memory

FOOTER = 44
LEAVES = 8192
EXTRA = 28
CHUNK = 1024
STEP = 4096
LONGEST_STATEMENT = 404_052
LONGEST_SIGNATURE = 8192
MOST_SIGNATURES = 16
MOST_MARKS = 12_479
LATEST = 253_402_300_799


def hashed(context: str, number: int, data: bytes) -> bytes:
    return blake3(number.to_bytes(8, "big") + data, derive_key_context=context).digest()


@dataclass
class Statement:
    preamble: bytes
    metadata: bytes
    root: bytes
    length: int
    time: int
    signers: list[bytes]
    salt: bytes | None
    marks: list[bytes]


def statement(data: bytes) -> Statement:
    fields = Fields(data)
    require(fields.number(1) == 2, "another version of the statement")
    preamble, metadata = fields.take(10), fields.take(fields.number(2))
    require(len(metadata) <= 4115, "metadata of a length out of bounds")
    root, length, time, count = fields.take(32), fields.number(8), fields.number(8), fields.number(1)
    require(time <= LATEST, "a time after the year 9999")
    signers = [fields.take(32) for _ in range(count)]
    require(1 <= count <= MOST_SIGNATURES and signers == sorted(set(signers)), "signers that are not in order")
    audience = fields.number(1)
    salt, marks = None, []
    if audience == 1:
        salt, count = fields.take(32), fields.number(2)
        marks = [fields.take(32) for _ in range(count)]
        require(1 <= count <= MOST_MARKS and marks == sorted(set(marks)), "an audience that is not in order")
    else:
        require(audience == 0, "an audience that this reader does not know")
    require(not fields.rest(), "a statement that goes on after its end")
    return Statement(preamble, metadata, root, length, time, signers, salt, marks)


class Trailer:
    """Reads the trailer at the end of a file, and checks everything but the segments."""

    def __init__(self, source: Disk | Memory, header: Header, file_key: bytes, metadata: bytes):
        self.source, self.preamble = source, header.preamble
        self.leaf_key = derive(file_key, "deadpan v1 leaves", header.preamble)
        require(source.size >= FOOTER, "the file is cut short")
        footer = Fields(source.take(source.size - FOOTER, FOOTER))
        numbers = footer.take(12)
        mac = hmac.new(derive(file_key, "deadpan v1 footer", header.preamble), numbers, hashlib.sha256).digest()
        require(hmac.compare_digest(mac, footer.rest()), "the footer was changed")
        self.segments, box = int.from_bytes(numbers[:8], "big"), int.from_bytes(numbers[8:], "big")
        require(1 <= self.segments <= 1 << 40, "a number of segments out of bounds")
        self.pages = -(-self.segments // LEAVES)
        most = self.pages * 32 + 4 + LONGEST_STATEMENT + 1 + MOST_SIGNATURES * (2 + LONGEST_SIGNATURE)
        require(0 < box - EXTRA <= -(-most // STEP) * STEP and (box - EXTRA) % STEP == 0, "a box of a wrong length")
        self.leaves = 32 * self.segments + EXTRA * self.pages
        self.length = self.leaves + box + FOOTER
        self.begin = source.size - self.length
        require(self.begin >= len(header.raw), "the file is cut short")
        key = derive(file_key, "deadpan v1 signatures", header.preamble)
        self.read_box(self.opened(key, self.segments, self.begin + self.leaves, box), metadata)
        self.held: tuple[int, bytes] | None = None

    def opened(self, key: bytes, number: int, at: int, length: int) -> bytes:
        fields = Fields(self.source.take(at, length))
        try:
            return AESGCM(key).decrypt(fields.take(12), fields.rest(), self.preamble + number.to_bytes(8, "big"))
        except InvalidTag:
            raise Refused("the trailer was changed") from None

    def read_box(self, contents: bytes, metadata: bytes):
        fields = Fields(contents)
        self.page_hashes = [fields.take(32) for _ in range(self.pages)]
        length = fields.number(4)
        require(length <= LONGEST_STATEMENT, "a statement of a length out of bounds")
        signed = fields.take(length)
        count = fields.number(1)
        require(1 <= count <= MOST_SIGNATURES, "no signature, or more than there can be")
        blobs = []
        for _ in range(count):
            length = fields.number(2)
            require(length <= LONGEST_SIGNATURE, "a signature of a length out of bounds")
            blobs.append(fields.take(length))
        padding = fields.rest()
        require(len(padding) < STEP and not any(padding), "a box that goes on after its end")
        self.signers = [sshsig.verify(blob, signed) for blob in blobs]
        require(len(set(self.signers)) == count, "a key that signed twice")
        self.statement = statement(signed)
        root = hashed(
            "deadpan v1 signed tree",
            self.segments,
            self.statement.length.to_bytes(8, "big") + b"".join(self.page_hashes),
        )
        named = sorted(hashlib.sha256(sshsig.key(blob)).digest() for blob in blobs)
        require(self.statement.signers == named, "a signature that was removed or added")
        about = self.statement.preamble == self.preamble and self.statement.metadata == metadata
        require(about and self.statement.root == root, "a signature of something else")

    def leaves_of(self, page: int) -> bytes:
        if self.held is None or self.held[0] != page:
            count = min(LEAVES, self.segments - page * LEAVES)
            at = self.begin + page * (LEAVES * 32 + EXTRA)
            leaves = self.opened(self.leaf_key, page, at, 32 * count + EXTRA)
            require(hashed("deadpan v1 signed page", page, leaves) == self.page_hashes[page], "a page of other hashes")
            self.held = page, leaves
        return self.held[1]

    def check(self, segment: int, data: bytes):
        """Compares the data of a segment with what was signed."""
        at = segment % LEAVES * 32
        leaf = self.leaves_of(segment // LEAVES)[at : at + 32]
        zeros = bytes(-(16 + len(data)) % CHUNK)
        whole = len(data).to_bytes(8, "big") + data + zeros
        require(hashed("deadpan v1 signed segment", segment, whole) == leaf, "data that were not signed")

    def names(self, recipient: bytes) -> bool:
        """Whether the audience has the mark of a recipient: its type, and its public key or body."""
        salt = self.statement.salt
        return salt is not None and hashlib.sha256(salt + recipient).digest() in self.statement.marks
