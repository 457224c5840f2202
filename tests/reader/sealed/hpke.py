"""HPKE in base mode (RFC 9180) with HKDF-SHA-256 and AES-256-GCM, for recipients.

The key schedule is written out here, because the package's HPKE lacks MLKEM768-P256. The tests compare the two.
"""

import hashlib
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, mlkem, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

P256 = ec.SECP256R1()
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


# RFC 9180, section 4


def extract(suite: bytes, salt: bytes, label: bytes, key: bytes) -> bytes:
    return hmac.new(salt or bytes(32), b"HPKE-v1" + suite + label + key, hashlib.sha256).digest()


def expand(suite: bytes, key: bytes, label: bytes, info: bytes, length: int) -> bytes:
    labeled = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return HKDFExpand(hashes.SHA256(), length, labeled).derive(key)


# Each key class can compute the shared secret of an encapsulation, or raises ValueError.


def dhkem(kem_id: int, shared: bytes, enc: bytes, public: bytes) -> bytes:
    """RFC 9180, section 4.1."""
    suite = b"KEM" + kem_id.to_bytes(2, "big")
    return expand(suite, extract(suite, b"", b"eae_prk", shared), b"shared_secret", enc + public, 32)


class X25519:
    kem_id, enc = 0x0020, 32

    def __init__(self, private: bytes):
        self.key = x25519.X25519PrivateKey.from_private_bytes(private)
        self.public = self.key.public_key().public_bytes_raw()

    def agree(self, enc: bytes) -> bytes:
        if int.from_bytes(enc, "little") >= 2**255 - 19:
            raise ValueError("not the canonical form of a point")
        # The package refuses a shared secret of zeros, as RFC 9180, section 7.1.4 requires.
        return self.key.exchange(x25519.X25519PublicKey.from_public_bytes(enc))

    def open(self, enc: bytes) -> bytes:
        return dhkem(self.kem_id, self.agree(enc), enc, self.public)


class P256Key:
    kem_id, enc = 0x0010, 65

    def __init__(self, private: bytes):
        self.key = ec.derive_private_key(int.from_bytes(private, "big"), P256)
        self.public = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def agree(self, enc: bytes) -> bytes:
        return self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(P256, enc))

    def open(self, enc: bytes) -> bytes:
        return dhkem(self.kem_id, self.agree(enc), enc, self.public)


class MlKem768:
    kem_id, enc = 0x0041, 1088

    def __init__(self, seed: bytes):
        self.key = mlkem.MLKEM768PrivateKey.from_seed_bytes(seed)
        self.public = self.key.public_key().public_bytes_raw()

    def open(self, enc: bytes) -> bytes:
        return self.key.decapsulate(enc)


class MlKem1024:
    kem_id, enc = 0x0042, 1568

    def __init__(self, seed: bytes):
        self.key = mlkem.MLKEM1024PrivateKey.from_seed_bytes(seed)
        self.public = self.key.public_key().public_bytes_raw()

    def open(self, enc: bytes) -> bytes:
        return self.key.decapsulate(enc)


class Hybrid:
    """ML-KEM-768 with a curve: the 32-byte seed is expanded to both keys, and SHA3-256 combines both secrets."""

    def open(self, enc: bytes) -> bytes:
        pq, curve = enc[:1088], enc[1088:]
        both = self.pq.open(pq) + self.curve.agree(curve)
        return hashlib.sha3_256(both + curve + self.curve.public + self.label).digest()

    @property
    def public(self) -> bytes:
        return self.pq.public + self.curve.public


class XWing(Hybrid):
    kem_id, enc, label = 0x647A, 1120, b"\\.//^\\"

    def __init__(self, seed: bytes):
        stretched = hashlib.shake_256(seed).digest(64 + 32)
        self.pq, self.curve = MlKem768(stretched[:64]), X25519(stretched[64:])


class MlKem768P256(Hybrid):
    kem_id, enc, label = 0x0050, 1153, b"MLKEM768-P256"

    def __init__(self, seed: bytes):
        stretched = hashlib.shake_256(seed).digest(64 + 128)
        # Uses the first of four 32-byte numbers that is a valid private key. The chance that none of the numbers is
        # valid is 2^-128.
        scalars = (stretched[at : at + 32] for at in range(64, 192, 32))
        scalar = next(s for s in scalars if 0 < int.from_bytes(s, "big") < P256_ORDER)
        self.pq, self.curve = MlKem768(stretched[:64]), P256Key(scalar)


def open_base(key, enc: bytes, info: bytes, aad: bytes, ciphertext: bytes, aead: int = 2) -> bytes | None:
    """RFC 9180, section 6.1. None if the ciphertext is not for this key."""
    try:
        shared = key.open(enc)
    except ValueError:
        return None
    secret, nonce = schedule(key.kem_id, shared, info, aead)
    try:
        return AESGCM(secret).decrypt(nonce, ciphertext, aad)
    except InvalidTag:
        return None


def schedule(kem_id: int, shared: bytes, info: bytes, aead: int = 2) -> tuple[bytes, bytes]:
    """RFC 9180, section 5.1: returns the key and the nonce of the only message.

    `aead` 1 is AES-128-GCM, which the published vectors use.
    """
    suite = b"HPKE" + kem_id.to_bytes(2, "big") + b"\x00\x01" + aead.to_bytes(2, "big")
    context = b"\x00" + extract(suite, b"", b"psk_id_hash", b"") + extract(suite, b"", b"info_hash", info)
    secret = extract(suite, shared, b"secret", b"")
    return expand(suite, secret, b"key", context, 16 * aead), expand(suite, secret, b"base_nonce", context, 12)
