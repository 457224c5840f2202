"""The limit on the cost of passphrases."""

from typing import NamedTuple


class MaxCost(NamedTuple):
    """What trying a passphrase or session may cost at most.

    ``memory`` is the most memory, in KiB. ``passes`` is the most work, as so many passes over that memory; less memory
    may have more passes. Data that this package seals cost ``MaxCost(256 << 10, 3)``.
    """

    memory: int
    passes: int
