"""Private keys: PKCS#8 in PEM without encryption (docs/format-keys.md), or a bare seed."""

import base64
import binascii
import re

from . import hpke

# The object identifiers of the keys' algorithms, as DER bytes.
ML_KEM = {
    bytes.fromhex("0609608648016503040402"): hpke.MlKem768,
    bytes.fromhex("0609608648016503040403"): hpke.MlKem1024,
}
# For hybrid keys, the octet string contains only the seed.
HYBRID = {
    bytes.fromhex("060b2b0601040183e62d81c87a"): hpke.XWing,
    bytes.fromhex("06146982e28bef87bfd79a8ac9b1faa7e8a2a9f9d26e"): hpke.MlKem768P256,
}
X25519 = bytes.fromhex("06032b656e")
EC = bytes.fromhex("06072a8648ce3d0201")
P256 = bytes.fromhex("06082a8648ce3d030107")

# A bare seed does not name its kind. The reader therefore tries all kinds whose seeds have this length; a key of the
# wrong kind opens nothing.
BARE = {32: [hpke.X25519, hpke.P256Key, hpke.XWing, hpke.MlKem768P256], 64: [hpke.MlKem768, hpke.MlKem1024]}


def read(data: bytes) -> list:
    """Returns all keys that these bytes can be. Raises ValueError if they are not a key."""
    if b"-----BEGIN " in data:
        return [private_key(der) for der in pem(data)]
    if len(data) not in BARE:
        raise ValueError("neither a PEM block nor a seed")
    return [kind(data) for kind in BARE[len(data)]]


def pem(text: bytes) -> list[bytes]:
    """Returns all private keys of a file. Other blocks are passed over."""
    found = re.findall(rb"-----BEGIN PRIVATE KEY-----\s(.*?)-----END PRIVATE KEY-----", text, re.DOTALL)
    if not found:
        raise ValueError("no PEM block with a PRIVATE KEY")
    try:
        return [base64.b64decode(b"".join(block.split()), validate=True) for block in found]
    except binascii.Error:
        raise ValueError("a PEM block that is no base64") from None


def private_key(der: bytes):
    """PrivateKeyInfo (RFC 5958): version, algorithm, octet string; attributes and a public key may follow."""
    info = element(der, 0x30)[0]
    version, rest = element(info, 0x02)
    if version not in (b"\x00", b"\x01"):
        raise ValueError("a PKCS#8 of another version")
    algorithm, rest = element(rest, 0x30)
    key, _ = element(rest, 0x04)
    if algorithm in ML_KEM:
        # RFC 9935: the tag [0] means that the private key consists only of its seed.
        return ML_KEM[algorithm](sized(element(key, 0x80)[0], 64))
    if algorithm in HYBRID:
        return HYBRID[algorithm](sized(key, 32))
    if algorithm == X25519:
        return hpke.X25519(sized(element(key, 0x04)[0], 32))
    if algorithm == EC + P256:
        _, rest = element(element(key, 0x30)[0], 0x02)
        return hpke.P256Key(sized(element(rest, 0x04)[0], 32))
    raise ValueError("a key of a kind that this reader does not know")


def sized(key: bytes, length: int) -> bytes:
    if len(key) != length:
        raise ValueError("a key of another length")
    return key


def element(der: bytes, tag: int) -> tuple[bytes, bytes]:
    """Returns the content of the first element, which must have this tag, and the bytes after it."""
    if len(der) < 2 or der[0] != tag:
        raise ValueError("a key in another form than PKCS#8")
    length, at = der[1], 2
    if length >= 0x80:
        at += length - 0x80
        length = int.from_bytes(der[2:at], "big")
    if at + length > len(der):
        raise ValueError("a key that is cut short")
    return der[at : at + length], der[at + length :]
