"""Base64 in constant time, with the names of the standard module. Decoding is strict."""

from deadpan._native import b64decode as _decode
from deadpan._native import b64encode as _encode

__all__ = [
    "b64decode",
    "b64encode",
    "standard_b64decode",
    "standard_b64encode",
    "urlsafe_b64decode",
    "urlsafe_b64encode",
]


def b64encode(s, altchars=None):
    """Encodes bytes. ``altchars`` replaces ``+`` and ``/``."""
    if altchars is None:
        return _encode(s)
    first, second = _two(altchars)
    return _encode(s).translate(bytes.maketrans(b"+/", bytes((first, second))))


def b64decode(s, altchars=None, validate=True):
    """Decodes a text. Unlike the standard module, it always validates: ``validate=False`` is refused."""
    if not validate:
        raise ValueError("this module does not skip characters: validate=False is not possible")
    if altchars is None:
        return _decode(s)
    first, second = _two(altchars)
    text = s.encode("ascii") if isinstance(s, str) else bytes(s)
    if (first, second) != tuple(b"+/") and any(byte in text for byte in b"+/" if byte not in (first, second)):
        raise ValueError("the text is not valid base64")
    return _decode(text.translate(bytes.maketrans(bytes((first, second)), b"+/")))


def standard_b64encode(s):
    return _encode(s)


def standard_b64decode(s):
    return _decode(s)


def urlsafe_b64encode(s):
    return _encode(s, urlsafe=True)


def urlsafe_b64decode(s):
    return _decode(s, urlsafe=True)


def _two(altchars):
    if isinstance(altchars, str):
        altchars = altchars.encode("ascii")
    if len(altchars) != 2:
        raise ValueError(f"altchars has two characters, and not {len(altchars)}")
    return altchars
