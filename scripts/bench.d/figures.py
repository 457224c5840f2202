"""Compares measured figures with the wanted ones.

A verdict compares the median itself, not the rounded number that the table shows.
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
    """Returns the verdict about the peak memory in MiB, in a list that is empty if the memory was not measured."""
    peak = results.peaks.get(key)
    return [] if peak is None else [most(what, peak / 1024, limit, "{:.1f} MiB")]
