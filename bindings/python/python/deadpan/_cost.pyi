from typing import NamedTuple

class MaxCost(NamedTuple):
    memory: int
    passes: int
