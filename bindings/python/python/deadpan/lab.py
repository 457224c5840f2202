"""Measures whether the time of a Python function depends on its input. The verdicts have known error rates."""

from deadpan._lab import Comparison, compare_timing

__all__ = ["Comparison", "compare_timing"]
