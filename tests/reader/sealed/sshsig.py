"""SSHSIG blobs (OpenSSH's PROTOCOL.sshsig) of the kinds that docs/format-seal.md names."""

import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PublicKey, MLDSA65PublicKey

from .fields import Fields
from .refusal import Refused, require

NAMESPACE = b"deadpan-v1"
LABEL = b"COMPSIG-MLDSA44-Ed25519-SHA512"
PRESENT = 1  # a person touched the security key


def string(fields: Fields) -> bytes:
    return fields.take(fields.number(4))


def packed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def key(blob: bytes) -> bytes:
    """Returns the public key of the signer, as SSH writes it."""
    fields = Fields(blob)
    fields.take(10)
    return string(fields)


def verify(blob: bytes, statement: bytes) -> tuple[str, bytes]:
    """Returns the kind and the public key of the signer. Refuses a signature that is not right."""
    fields = Fields(blob)
    require(fields.take(6) == b"SSHSIG" and fields.number(4) == 1, "a signature that is no SSHSIG")
    key, namespace, reserved, hash_name, signature = (string(fields) for _ in range(5))
    require(not fields.rest(), "a signature that goes on after its end")
    require(namespace == NAMESPACE and not reserved and hash_name == b"sha512", "a signature for another purpose")
    digest = hashlib.sha512(statement).digest()
    signed = b"SSHSIG" + b"".join(map(packed, (namespace, reserved, hash_name, digest)))
    key_fields, signature_fields = Fields(key), Fields(signature)
    kind = string(key_fields)
    require(string(signature_fields) == kind, "a signature of another kind than its key")
    public, raw = string(key_fields), string(signature_fields)
    try:
        if kind == b"ssh-ed25519":
            Ed25519PublicKey.from_public_bytes(public).verify(raw, signed)
        elif kind == b"sk-ssh-ed25519@openssh.com":
            application, about = string(key_fields), signature_fields.take(5)
            require(about[0] & PRESENT != 0, "a security key that nobody touched")
            hashed = hashlib.sha256(application).digest() + about + hashlib.sha256(signed).digest()
            Ed25519PublicKey.from_public_bytes(public).verify(raw, hashed)
        elif kind == b"ssh-mldsa-65":
            MLDSA65PublicKey.from_public_bytes(public).verify(raw, signed)
        elif kind == b"ssh-mldsa44-ed25519":
            message = b"CompositeAlgorithmSignatures2025" + LABEL + b"\0" + hashlib.sha512(signed).digest()
            MLDSA44PublicKey.from_public_bytes(public[:1312]).verify(raw[:2420], message, LABEL)
            Ed25519PublicKey.from_public_bytes(public[1312:]).verify(raw[2420:], message)
        else:
            raise Refused("a signature of a kind that this reader does not know")
    except (InvalidSignature, ValueError):
        raise Refused("a signature is wrong") from None
    require(not key_fields.rest() and not signature_fields.rest(), "a signature that goes on after its end")
    return kind.decode(), public
