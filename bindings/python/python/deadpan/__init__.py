"""Seals files, folders and bytes with classical, post-quantum and hybrid encryption.

>>> import deadpan
>>> key = deadpan.PrivateKey.generate()
>>> sealed = deadpan.seal(b"straight face", key.public)
>>> deadpan.open(sealed, key)
b'straight face'
"""

from deadpan import base64, ct, pad
from deadpan._native import (
    CostlyError,
    Error,
    InvalidKeyError,
    LimitError,
    LockedKeyError,
    NewerError,
    NoKeyError,
    NotSealedError,
    Passphrase,
    PassphraseError,
    PrivateKey,
    PublicKey,
    Session,
    SignatureError,
    StoppedError,
    TamperedError,
    TruncatedError,
    __version__,
    list_folder,
    open,
    open_file,
    open_folder,
    open_into,
    random_bytes,
    repair_check,
    repair_fix,
    repair_make,
    seal,
    seal_file,
    seal_folder,
    seal_into,
    sealed_length,
)
from deadpan._cost import MaxCost
from deadpan._inspect import Description, Entry, RecipientInfo, inspect
from deadpan._streams import Reader, Writer

__all__ = [
    "CostlyError",
    "Description",
    "Entry",
    "Error",
    "InvalidKeyError",
    "LimitError",
    "LockedKeyError",
    "MaxCost",
    "NewerError",
    "NoKeyError",
    "NotSealedError",
    "Passphrase",
    "PassphraseError",
    "PrivateKey",
    "PublicKey",
    "Reader",
    "RecipientInfo",
    "Session",
    "SignatureError",
    "StoppedError",
    "TamperedError",
    "TruncatedError",
    "Writer",
    "__version__",
    "base64",
    "ct",
    "inspect",
    "list_folder",
    "open",
    "open_file",
    "open_folder",
    "open_into",
    "pad",
    "random_bytes",
    "repair_check",
    "repair_fix",
    "repair_make",
    "seal",
    "seal_file",
    "seal_folder",
    "seal_into",
    "sealed_length",
]


def __getattr__(name):
    # The modules in this table are loaded at their first use.
    if name in ("cluster", "lab", "picture"):
        import importlib

        return importlib.import_module(f"deadpan.{name}")
    raise AttributeError(f"module 'deadpan' has no attribute {name!r}")
