"""The HPKE of PyPI's `cryptography`, an implementation that was written without this format.

It takes no additional data, and returns `enc` and the ciphertext as one string, which is a recipient's body.
"""

from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric import ec, mlkem, x25519

KEMS = {
    0x0010: hpke.KEM.P256,
    0x0020: hpke.KEM.X25519,
    0x0041: hpke.KEM.MLKEM768,
    0x0042: hpke.KEM.MLKEM1024,
    0x647A: hpke.KEM.MLKEM768_X25519,
}


def suite(kind: int) -> hpke.Suite:
    return hpke.Suite(KEMS[kind], hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_256_GCM)


def seal(kind: int, public: bytes, message: bytes, info: bytes) -> bytes:
    return suite(kind).encrypt(message, public_key(kind, public), info)


def open(key, body: bytes, info: bytes) -> bytes:
    """Raises `cryptography.exceptions.InvalidTag` if the body is for another key or purpose."""
    return suite(key.kem_id).decrypt(body, private_key(key), info)


def public_key(kind: int, public: bytes):
    curve = x25519.X25519PublicKey.from_public_bytes
    lattice = mlkem.MLKEM768PublicKey.from_public_bytes
    match kind:
        case 0x0010:
            return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public)
        case 0x0020:
            return curve(public)
        case 0x0041:
            return lattice(public)
        case 0x0042:
            return mlkem.MLKEM1024PublicKey.from_public_bytes(public)
        case 0x647A:
            return hpke.MLKEM768X25519PublicKey(lattice(public[:1184]), curve(public[1184:]))


def private_key(key):
    """Returns the package's form of one of the reader's keys."""
    if key.kem_id == 0x647A:
        return hpke.MLKEM768X25519PrivateKey(key.pq.key, key.curve.key)
    return key.key
