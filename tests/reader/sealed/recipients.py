"""Opens a recipient's body to the file key."""

import hmac
import unicodedata

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from . import hpke, threshold
from .fields import Fields
from .header import PASSPHRASE, PREAMBLE, SESSION, SHARE, Header
from .refusal import NoKey, Refused

PURPOSE = b"deadpan v1 recipient"
SESSION_INFO = b"deadpan v1 session"


def file_key(header: Header, keys: list, passphrase: bytes | None) -> bytes:
    """Returns the file key in the first body that opens. The MAC tells whether it is the key of this file."""
    for kind, body in header.recipients:
        if kind == SHARE:
            continue
        if kind not in (PASSPHRASE, SESSION):
            found = with_keys(kind, body, keys, header.preamble)
        elif passphrase is not None:
            found = with_passphrase(kind, body, passphrase, header.preamble)
        else:
            continue
        if found is not None:
            return found
    if header.shares:
        return threshold.file_key(header, keys)
    raise NoKey("no recipient of this file is among the keys")


def with_keys(kind: int, body: bytes, keys: list, preamble: bytes = PREAMBLE) -> bytes | None:
    for key in keys:
        if key.kem_id == kind:
            found = hpke.open_base(key, body[: key.enc], PURPOSE + preamble, b"", body[key.enc :])
            if found is not None:
                return found
    return None


def forms(passphrase: bytes) -> list[bytes]:
    """Returns the passphrase as typed, in NFC and in NFD, without forms that have the same bytes."""
    try:
        text = passphrase.decode()
    except UnicodeDecodeError:
        return [passphrase]
    normal = (unicodedata.normalize(form, text).encode() for form in ("NFC", "NFD"))
    return list(dict.fromkeys([passphrase, *normal]))


def with_passphrase(kind: int, body: bytes, passphrase: bytes, preamble: bytes = PREAMBLE) -> bytes | None:
    for form in forms(passphrase):
        found = with_bytes(kind, body, form, preamble)
        if found is not None:
            return found
    return None


def with_bytes(kind: int, body: bytes, passphrase: bytes, preamble: bytes = PREAMBLE) -> bytes | None:
    fields = Fields(body)
    memory, passes, lanes = (fields.number(4) for _ in range(3))
    salt = fields.take(16)
    item = fields.take(32) if kind == SESSION else b""
    commitment, wrapped = fields.take(32), fields.take(48)
    length = 32 if kind == SESSION else 64
    derived = Argon2id(salt=salt, length=length, iterations=passes, lanes=lanes, memory_cost=memory).derive(passphrase)
    if kind == SESSION:
        derived = HKDF(hashes.SHA256(), 64, salt=preamble, info=SESSION_INFO + item).derive(derived)
    if not hmac.compare_digest(derived[32:], commitment):
        return None
    try:
        return AESGCM(derived[:32]).decrypt(bytes(12), wrapped, preamble)
    except InvalidTag:
        raise Refused("the passphrase is right, its recipient was changed") from None
