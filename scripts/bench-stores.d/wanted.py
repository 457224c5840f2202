"""The wanted figures for stores."""

import contestants
import with_ray
from figures import Verdict, least, memory, most

SEAL, OPEN, RANGE = "deadpan seal", "deadpan open", "deadpan open --range"
SMALL_YARDSTICK, SMALL_THROUGH = "s5cmd cp", "s5cmd cp down, cp up"
# Peak memory, in MiB.
PEAK = 256
# How many times as long Ray may take as processes.
RAY = 1.1


def fastest(results, section, everyone):
    """Returns the fastest contestant that copies through this machine, or None."""
    plain = [one.name for one in everyone if one.kind == contestants.PLAIN and (section, one.name) in results]
    return min(plain, key=lambda name: results.median((section, name)), default=None)


def of_seal(measured, what, everyone):
    yardsticks = [(fastest(measured.bench.results, "seal", everyone), 0.8), ("rclone crypt", 3)]
    return _beside(measured, ("seal", SEAL), f"seal {what}", yardsticks)


def of_small(measured, what):
    # The first sends no data to this machine. The second does, as sealing must.
    return _beside(measured, ("small", SEAL), f"seal {what}", [(SMALL_YARDSTICK, 0.8), (SMALL_THROUGH, 0.8)])


def of_open(measured, what):
    return _beside(measured, ("open", OPEN), f"open {what}", [])


def of_range(measured):
    return [most("a range: requests", measured.requests[RANGE], 2, "{}")]


def of_ray(measured, what):
    """Judges how much longer the same work takes by tasks of Ray than by processes."""
    results, keys = measured.bench.results, [("ray", name) for name in (with_ray.TASKS, with_ray.PROCESSES)]
    shown, what = "{:.2f} × the time of processes", f"seal {what} with Ray"
    if any(key not in results for key in keys):
        return [Verdict(what, f"≤ {shown.format(RAY)}", "it failed", False)]
    return [most(what, results.ratio(*keys), RAY, shown)]


def _beside(measured, key, what, yardsticks):
    """Judges the speed beside others, and the memory. A command that failed, or has no yardstick, misses them."""
    results, section = measured.bench.results, key[0]
    verdicts = []
    for name, limit in yardsticks:
        shown = f"{{:.2f}} × the speed of {name or 'a plain copy'}"
        why = "it failed" if key not in results else "not compared" if (section, name) not in results else None
        if why:
            verdicts.append(Verdict(what, f"≥ {shown.format(limit)}", why, False))
        else:
            verdicts.append(least(what, results.ratio((section, name), key), limit, shown))
    if key not in results:
        return [*verdicts, Verdict(f"{what}: peak memory", f"≤ {PEAK:.1f} MiB", "it failed", False)]
    return verdicts + memory(results, key, f"{what}: peak memory", PEAK)
