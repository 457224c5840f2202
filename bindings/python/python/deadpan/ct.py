"""Comparison in constant time."""

from deadpan._native import compare_digest

__all__ = ["compare_digest"]
