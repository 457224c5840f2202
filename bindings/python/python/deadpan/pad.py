"""Block paddings whose removal takes a time that does not depend on the data."""

from deadpan._native import pad, unpad

__all__ = ["pad", "unpad"]
