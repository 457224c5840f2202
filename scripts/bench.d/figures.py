"""The figures that are wanted, and whether they were reached.

A verdict is never rounded into being: what is compared is the median itself, not the number of digits that the table shows.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    what: str
    wanted: str
    measured: str
    met: bool

    @property
    def word(self):
        return "met" if self.met else "**missed**"


def most(what, value, limit, shown):
    return Verdict(what, f"≤ {shown.format(limit)}", shown.format(value), value <= limit)


def least(what, value, limit, shown):
    return Verdict(what, f"≥ {shown.format(limit)}", shown.format(value), value >= limit)


def memory(results, key, what, limit):
    """Peak memory in MiB; nothing where it could not be measured."""
    peak = results.peaks.get(key)
    return [] if peak is None else [most(what, peak / 1024, limit, "{:.1f} MiB")]
