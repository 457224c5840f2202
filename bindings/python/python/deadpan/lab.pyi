from collections.abc import Callable
from typing import Any

class Comparison:
    record: dict[str, Any]
    def __init__(self, text: str) -> None: ...
    @property
    def verdict(self) -> str: ...
    @property
    def leaks(self) -> bool: ...
    @property
    def at_most_ns(self) -> float: ...
    @property
    def threshold_ns(self) -> float: ...
    @property
    def pictures(self) -> dict[str, str]: ...
    def _repr_html_(self) -> str: ...

def compare_timing(
    func: Callable[..., object],
    class_a: object,
    class_b: object,
    *,
    names: tuple[str, str] = ("a", "b"),
    quick: bool = False,
    time_limit: float | None = None,
    delta_ns: float | None = None,
    alpha: float = 0.01,
    seed: int | None = None,
) -> Comparison: ...
