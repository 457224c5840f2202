"""A writer of sealed files from docs/format-seal.md, for the tests of the reader. Callers can make each part wrong.

HPKE comes from the package (`package.py`) where it has the KEM, so that the reader's own HPKE is checked against
another implementation.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, mlkem
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import package
from sealed.hpke import schedule

P = b"\x89DPN\r\n\x1a\n\x01\x00"
INFO = b"deadpan v1 recipient" + P
SEGMENT = 262144


def number(value: int, length: int) -> bytes:
    return value.to_bytes(length, "big", signed=value < 0)


def derive(file_key: bytes, label: bytes) -> bytes:
    return HKDF(hashes.SHA256(), 32, salt=P, info=label).derive(file_key)


def recipient(kind: int, body: bytes) -> bytes:
    return number(kind, 2) + number(len(body), 2) + body


def to_key(kind: int, public: bytes, file_key: bytes, info: bytes = INFO) -> bytes:
    seal = to_mlkem768_p256 if kind == 0x0050 else package.seal
    return recipient(kind, seal(kind, public, file_key, info))


def to_mlkem768_p256(kind: int, public: bytes, file_key: bytes, info: bytes) -> bytes:
    """The body for the one KEM that the package's HPKE lacks."""
    pq_secret, pq = mlkem.MLKEM768PublicKey.from_public_bytes(public[:1184]).encapsulate()
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public[1184:])
    ephemeral = ec.generate_private_key(ec.SECP256R1())
    curve = ephemeral.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    curve_secret = ephemeral.exchange(ec.ECDH(), theirs)
    shared = hashlib.sha3_256(pq_secret + curve_secret + curve + public[1184:] + b"MLKEM768-P256").digest()
    key, nonce = schedule(kind, shared, info)
    return pq + curve + AESGCM(key).encrypt(nonce, file_key, b"")


def times(a: int, b: int) -> int:
    """The product in GF(256), by logarithms to the base 3. The reader multiplies bit by bit."""
    return POWERS[(LOGARITHMS[a] + LOGARITHMS[b]) % 255] if a and b else 0


POWERS = [1]
for _ in range(254):
    last = POWERS[-1]
    POWERS.append(last ^ last << 1 ^ (0x11B if last & 0x80 else 0))
LOGARITHMS = {power: exponent for exponent, power in enumerate(POWERS)}


def to_group(needed: int, members: list[tuple[int, bytes]], file_key: bytes) -> list[bytes]:
    """The entries of a threshold. Each member is a kind of key and a public key."""
    coefficients = [file_key, *(secrets.token_bytes(32) for _ in range(needed - 1))]
    head = number(needed, 1) + number(len(members), 1)
    shares, checks = [], []
    for index in range(1, len(members) + 1):
        share, power = bytes(32), 1
        for coefficient in coefficients:
            share = bytes(known ^ times(byte, power) for known, byte in zip(share, coefficient))
            power = times(power, index)
        shares.append(share)
        checks.append(derive(share, b"deadpan v1 share check" + head + number(index, 1)))
    key_check = derive(file_key, b"deadpan v1 threshold check")
    group = hashlib.sha256(b"deadpan v1 threshold" + P + head + key_check + b"".join(checks)).digest()
    entries = []
    for index, ((kind, public), share, check) in enumerate(zip(members, shares, checks), 1):
        info = b"deadpan v1 share" + P + number(index, 1) + group
        sealed = to_key(kind, public, share, info)[4:]
        entries.append(recipient(0xFF04, head + number(index, 1) + number(kind, 2) + key_check + check + sealed))
    return entries


def to_passphrase(passphrase: bytes, file_key: bytes, m: int = 64, t: int = 1, p: int = 1) -> bytes:
    salt = secrets.token_bytes(16)
    derived = Argon2id(salt=salt, length=64, iterations=t, lanes=p, memory_cost=m).derive(passphrase)
    wrapped = AESGCM(derived[:32]).encrypt(bytes(12), file_key, P)
    return recipient(0xFF01, number(m, 4) + number(t, 4) + number(p, 4) + salt + derived[32:] + wrapped)


def to_session(passphrase: bytes, salt: bytes, file_key: bytes, m: int = 64, t: int = 1, p: int = 1) -> bytes:
    item = secrets.token_bytes(32)
    session_key = Argon2id(salt=salt, length=32, iterations=t, lanes=p, memory_cost=m).derive(passphrase)
    derived = HKDF(hashes.SHA256(), 64, salt=P, info=b"deadpan v1 session" + item).derive(session_key)
    wrapped = AESGCM(derived[:32]).encrypt(bytes(12), file_key, P)
    return recipient(0xFF02, number(m, 4) + number(t, 4) + number(p, 4) + salt + item + derived[32:] + wrapped)


def metadata(
    kind: int = 0, padding: int = 0, time=None, mode=None, name=None, size: int | None = None, compression=None
) -> bytes:
    follows = (time is not None) | (mode is not None) << 1 | (name is not None) << 2 | (compression is not None) << 3
    fields = bytes([kind, padding, follows])
    if time is not None:
        fields += number(time[0], 8) + number(time[1], 4)
    if mode is not None:
        fields += number(mode, 2)
    if name is not None:
        fields += number(len(name), 2) + name
    if compression is not None:
        fields += number(compression, 1)
    return fields.ljust(size or -(-len(fields) // 256) * 256, b"\0")


def header(
    file_key: bytes, recipients: list[bytes], about: bytes, slack: bytes = b"", count: int | None = None
) -> bytes:
    iv = secrets.token_bytes(12)
    box = iv + AESGCM(derive(file_key, b"deadpan v1 metadata")).encrypt(iv, about, P)
    rest = b"".join(recipients) + number(len(box), 4) + box + slack
    start = P + number(16 + len(rest) + 32, 4) + number(len(recipients) if count is None else count, 2)
    return with_mac(file_key, start + rest)


def with_mac(file_key: bytes, start: bytes) -> bytes:
    return start + hmac.new(derive(file_key, b"deadpan v1 header"), start, hashlib.sha256).digest()


@dataclass
class Payload:
    """FLOE over data. `empty_last` adds an empty segment after full ones, which the format allows."""

    segment: int = SEGMENT
    empty_last: bool = False
    parameters: bytes | None = None
    aad: bytes = P

    def seal(self, file_key: bytes, data: bytes) -> bytes:
        parameters = self.parameters or b"\0\0" + number(self.segment, 4) + number(32, 4)
        prefix = parameters + secrets.token_bytes(32)
        floe_key = derive(file_key, b"deadpan v1 payload")

        def kdf(key: bytes, purpose: bytes, length: int) -> bytes:
            return HKDFExpand(hashes.SHA384(), length, prefix + purpose + self.aad).derive(key)

        message_key = kdf(floe_key, b"MESSAGE_KEY:", 48)
        cipher = AESGCM(kdf(message_key, b"DEK:" + bytes(8), 32))
        step = self.segment - 32
        pieces = [data[at : at + step] for at in range(0, len(data), step)] or [b""]
        if self.empty_last and data and len(data) % step == 0:
            pieces.append(b"")
        out = prefix + kdf(floe_key, b"HEADER_TAG:", 32)
        for i, piece in enumerate(pieces):
            final = i == len(pieces) - 1
            iv = secrets.token_bytes(12)
            length = number(len(piece) + 32, 4) if final else b"\xff" * 4
            out += length + iv + cipher.encrypt(iv, piece, number(i, 8) + bytes([final]))
        return out


def padme(length: int) -> int:
    """Written with logarithms, as on the page. The reader's function counts bits."""
    if length < 2:
        return length
    e = len(bin(length)) - 3
    s = len(bin(e)) - 3 + 1
    while length % 2 ** (e - s):
        length += 1
    return length


def padded(data: bytes) -> bytes:
    return (data + b"\x80").ljust(padme(len(data) + 1), b"\0")
