"""The wanted figures for sealing."""

import re

from contestants import MODES, YARDSTICK
from figures import Verdict, least, memory, most

MIB = 1 << 20
LARGE = 1 << 30
# Peak memory, in MiB.
PEAK = 16
OPERATIONS = ["seal", "open"]
OURS = [f"deadpan {mode}" for mode in MODES]


def of_files(results, size, names):
    """Returns the verdicts for one size, by (contestant, operation)."""
    verdicts = {}
    for mine in OURS:
        for operation in OPERATIONS:
            key, yardstick = (size, mine, operation), (size, YARDSTICK, operation)
            verdicts[mine, operation] = [
                *_beside_cp(results, size, operation, key, yardstick),
                *_beside_peers(results, size, operation, key, names),
                *memory(results, key, f"{mine}, {operation} {size.name}: peak memory", PEAK),
            ]
    return verdicts


def _beside_cp(results, size, operation, key, yardstick):
    what = f"{key[1]}, {operation} {size.name}"
    if size.bytes >= LARGE:
        limit = {"seal": 0.8, "open": 0.85}[operation]
        return [most(what, results.ratio(key, yardstick), limit, "{:.2f} × cp")]
    if size.small:
        return [most(what, results.difference(key, yardstick) * 1e3, 2.0, "{:.2f} ms over cp")]
    return [most(what, results.ratio(key, yardstick), 2.0, "{:.2f} × cp")] if size.bytes <= 16 * MIB else []


def _beside_peers(results, size, operation, key, names):
    """Judges small files, for which ours must not be slower than the fastest peer."""
    peers = [name for name in names if name != YARDSTICK and name not in OURS and (size, name, operation) in results]
    if not size.small or not peers:
        return []
    fastest = min(peers, key=lambda name: results.median((size, name, operation)))
    ratio = results.ratio(key, (size, fastest, operation))
    return [most(f"{key[1]}, {operation} {size.name}", ratio, 1.0, "{:.2f} × " + fastest)]


def of_pipes(results, names):
    verdicts = {}
    for mine in OURS:
        for operation in OPERATIONS:
            key, what = ("pipes", mine, operation), f"{mine}, {operation} through pipes"
            # A ratio of speeds is the inverse of the ratio of times: twice as fast takes half the time.
            verdicts[mine, operation] = [
                least(what, 1 / results.ratio(key, ("pipes", YARDSTICK, operation)), 0.9, "{:.2f} × the speed of cat")
            ]
            if "age" in names:
                speed = 1 / results.ratio(key, ("pipes", "age", operation))
                verdicts[mine, operation].append(least(what, speed, 2.0, "{:.2f} × the speed of age"))
            verdicts[mine, operation] += memory(results, key, f"{what}: peak memory", PEAK)
    return verdicts


def of_passphrase(results, size):
    verdicts = {}
    for operation in OPERATIONS:
        both = results.times["passphrase", "both", operation]
        alone = zip(*(results.times["passphrase", name, operation] for name in ("passphrase alone", "data alone")))
        ratios = sorted(took.wall / max(one.wall, other.wall) for took, (one, other) in zip(both, alone))
        # Only sealing has a wanted figure: opening must hash the passphrase before the first segment.
        if operation == "seal":
            what = f"seal {size.name} with a passphrase"
            verdicts["both", operation] = [most(what, ratios[len(ratios) // 2], 1.1, "{:.2f} × the longer alone")]
    return verdicts


IN_PROCESS = [
    (r"seal 1 KiB to X-Wing\s+([\d.]+)", "seal 1 KiB, hybrid", 75, "{:.1f} µs", most),
    (r"open 1 KiB with the seed of X-Wing\s+([\d.]+)", "open 1 KiB from the seed, hybrid", 90, "{:.1f} µs", most),
    (r"seal 64 MiB to X-Wing .*?([\d.]+) GB/s", "seal 64 MiB in memory", 10, "{:.2f} GB/s", least),
    (r"open 64 MiB with the seed of X-Wing .*?([\d.]+) GB/s", "open 64 MiB in memory", 10, "{:.2f} GB/s", least),
    (r"reads of \d+ bytes: mean ([\d.]+)", "a read of 4 KiB out of a 10 GB file", 150, "{:.1f} µs", most),
]


def of_process(lines):
    """Judges the lines of the benchmark inside one process. A missing figure counts as a failure."""
    verdicts = []
    for pattern, what, limit, shown, compare in IN_PROCESS:
        match = next((found for found in (re.search(pattern, line) for line in lines) if found), None)
        limit_shown = ("≤ " if compare is most else "≥ ") + shown.format(limit)
        verdicts.append(
            compare(what, float(match[1]), limit, shown) if match else Verdict(what, limit_shown, "not measured", False)
        )
    return verdicts
