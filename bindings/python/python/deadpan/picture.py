"""Bytes in PNG and WebP pictures. Nothing is encrypted: seal the bytes first.

>>> import deadpan, deadpan.picture, pathlib, tempfile
>>> place = pathlib.Path(tempfile.mkdtemp())
>>> key = deadpan.PrivateKey.generate()
>>> paths = deadpan.picture.hide(deadpan.seal(b"straight face", key.public), place / "holiday.png")
>>> deadpan.open(deadpan.picture.reveal(paths), key)
b'straight face'
"""

from deadpan import _native

__all__ = ["hide", "reveal"]


def hide(data, output, *, size=None, spares=0, replace=False):
    """Writes bytes to pictures whose pixels are the bytes, and returns their paths.

    ``output`` ends with ``.png`` or ``.webp``. One picture gets this name; several get numbers before the ending.
    ``size`` is the width and height of each picture. There are ``spares`` more pictures, and as many may be lost.
    """
    return _native.hide(data, output, size=size, spares=spares, replace=replace)


def reveal(pictures):
    """Returns the bytes of pictures, in any order. Another program may have written them again, without loss."""
    if isinstance(pictures, (str, bytes)) or hasattr(pictures, "__fspath__"):
        pictures = [pictures]
    return _native.reveal(list(pictures))
