"""Thresholds: shares that keys open, and the file key that enough of them give."""

import hashlib
import hmac

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from . import hpke
from .header import PREAMBLE, SHARE_HEAD, Header, derive
from .refusal import NoKey, require


def file_key(header: Header, keys: list) -> bytes:
    """Returns the file key, from the shares that these keys open."""
    bodies = header.shares
    needed, of = bodies[0][:2]
    key_check = bodies[0][5:37]
    preamble = header.preamble
    text = b"deadpan v1 threshold" + preamble + bodies[0][:2] + key_check + b"".join(body[37:69] for body in bodies)
    group = hashlib.sha256(text).digest()
    shares = {}
    for body in bodies:
        share = open_share(body, group, keys, preamble)
        if share is not None and hmac.compare_digest(share_check(body[:3], share, preamble), body[37:69]):
            shares[body[2]] = share
    if len(shares) < needed:
        raise NoKey(f"any {needed} of {of} keys open this file, and {len(shares)} of them are here")
    found = combine(dict(list(shares.items())[:needed]))
    derived = derive(found, "deadpan v1 threshold check", preamble)
    require(hmac.compare_digest(derived, key_check), "shares that do not fit")
    return found


def open_share(body: bytes, group: bytes, keys: list, preamble: bytes = PREAMBLE) -> bytes | None:
    info = b"deadpan v1 share" + preamble + body[2:3] + group
    sealed = body[SHARE_HEAD:]
    for key in keys:
        if key.kem_id == int.from_bytes(body[3:5], "big"):
            share = hpke.open_base(key, sealed[: key.enc], info, b"", sealed[key.enc :])
            if share is not None:
                return share
    return None


def share_check(numbers: bytes, share: bytes, preamble: bytes = PREAMBLE) -> bytes:
    return HKDF(hashes.SHA256(), 32, salt=preamble, info=b"deadpan v1 share check" + numbers).derive(share)


def times(a: int, b: int) -> int:
    """The product in GF(256) modulo x^8 + x^4 + x^3 + x + 1."""
    product = 0
    while b:
        product ^= a * (b & 1)
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def over(a: int, b: int) -> int:
    return next(quotient for quotient in range(256) if times(quotient, b) == a)


def combine(shares: dict[int, bytes]) -> bytes:
    """Returns the value at 0 of the polynomials through these points."""
    secret = bytes(32)
    for index, share in shares.items():
        factor = 1
        for other in shares.keys() - {index}:
            factor = times(factor, over(other, other ^ index))
        secret = bytes(known ^ times(byte, factor) for known, byte in zip(secret, share))
    return secret
