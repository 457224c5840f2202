"""The payload: FLOE with AES-256-GCM and SHA-384. Any segment opens alone."""

import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from .fields import Fields
from .refusal import Refused, require
from .source import Disk, Memory

HEADER = 74
OVERHEAD = 32
ROTATION = 20  # bits
MOST_SEGMENTS = 1 << 40


class Payload:
    def __init__(
        self,
        source: Disk | Memory,
        at: int,
        key: bytes,
        aad: bytes,
        bounds=(4096, 1 << 24),
        rotation: int = ROTATION,
        end: int | None = None,
    ):
        """`bounds` and `rotation` have other values in FLOE's published vectors only."""
        self.source, self.at, self.aad, self.rotation = source, at + HEADER, aad, rotation
        raw = source.take(at, HEADER)
        fields = Fields(raw)
        require(fields.take(2) == b"\x00\x00", "a cipher that this reader does not know")
        self.segment = fields.number(4)
        require(bounds[0] <= self.segment <= bounds[1], "a segment length out of bounds")
        require(fields.number(4) == 32, "an IV of another length")
        self.check = None
        self.prefix = raw[:42]
        tag = self.kdf(key, b"HEADER_TAG:", 32)
        require(hmac.compare_digest(tag, raw[42:]), "the payload does not belong to this header")
        self.message_key = self.kdf(key, b"MESSAGE_KEY:", 48)
        self.key_period, self.cipher = None, None

        # All lengths follow from the length of the file, and the last segment authenticates this length.
        rest = (source.size if end is None else end) - self.at
        require(rest >= OVERHEAD, "the file is cut short")
        self.segments = -(-rest // self.segment)
        self.last = rest - (self.segments - 1) * self.segment
        require(self.last >= OVERHEAD, "the file is cut within its last segment, or goes on after it")
        require(self.segments <= MOST_SEGMENTS, "more segments than there can be")
        self.length = rest - OVERHEAD * self.segments

    def kdf(self, key: bytes, purpose: bytes, length: int) -> bytes:
        return HKDFExpand(hashes.SHA384(), length, self.prefix + purpose + self.aad).derive(key)

    def open_segment(self, i: int) -> bytes:
        final = i == self.segments - 1
        length = self.last if final else self.segment
        fields = Fields(self.source.take(self.at + i * self.segment, length))
        require(fields.number(4) == (length if final else 0xFFFFFFFF), "segments are missing, or there are too many")
        period = i >> self.rotation << self.rotation
        if period != self.key_period:
            key = self.kdf(self.message_key, b"DEK:" + period.to_bytes(8, "big"), 32)
            self.key_period, self.cipher = period, AESGCM(key)
        iv = fields.take(12)
        try:
            data = self.cipher.decrypt(iv, fields.rest(), i.to_bytes(8, "big") + bytes([final]))
        except InvalidTag:
            raise Refused(f"segment {i} was changed") from None
        if self.check is not None:
            self.check(i, data)
        return data

    def open_range(self, start: int, end: int) -> bytes:
        """Returns the bytes from `start` up to `end`, which lie within the data. Always checks the last segment."""
        self.open_segment(self.segments - 1)
        data = self.segment - OVERHEAD
        first = start // data
        opened = b"".join(self.open_segment(i) for i in range(first, -(-end // data)))
        return opened[start - first * data : end - first * data]
