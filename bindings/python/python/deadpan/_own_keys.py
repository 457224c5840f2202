"""The user's own keys, in the key folder of the command line."""

import os
import pathlib

from deadpan._native import InvalidKeyError, LockedKeyError, PrivateKey

# The command line refuses longer key files, too.
_LONGEST = 1 << 20


def key_folder():
    """Returns the folder that the command line uses, or ``None`` if there is no place for it."""
    if folder := os.environ.get("DEADPAN_HOME"):
        return pathlib.Path(folder)
    if os.name == "nt" and (folder := os.environ.get("APPDATA")):
        return pathlib.Path(folder, "deadpan")
    if os.path.isabs(folder := os.environ.get("XDG_CONFIG_HOME", "")):
        return pathlib.Path(folder, "deadpan")
    try:
        return pathlib.Path.home() / ".config" / "deadpan"
    except RuntimeError:
        return None


def own_keys(folder):
    """Returns the keys in ``NAME.key`` that no passphrase protects, and the paths of the files that one protects."""
    keys, locked = [], []
    for path in sorted(folder.glob("*.key")) if folder else []:
        try:
            if path.is_file():
                keys.append(_read(path))
        except LockedKeyError:
            locked.append(path)
        except InvalidKeyError:
            # A key that signs, or a damaged key, opens nothing.
            continue
    return keys, locked


def _read(path):
    """Reads a key, and wipes the text of the file afterwards."""
    text = bytearray(min(path.stat().st_size, _LONGEST))
    try:
        with open(path, "rb", buffering=0) as file:
            length = file.readinto(text)
        with memoryview(text) as view:
            return PrivateKey.read(view[:length])
    finally:
        text[:] = bytes(len(text))
