"""The tables of pictures, and the wanted figures."""

import figures
from measure import OPERATIONS
from tables import Table, memory, seconds, verdict

MIB = 1 << 20
# Peak memory, in MiB.
PEAK = 128


def verdicts(results, cases, options):
    """Returns the verdicts on data of at least 1 GiB, for which they are wanted."""
    if options.size < 1 << 30:
        return []
    return [one for case in cases for operation in OPERATIONS for one in _of(results, case, operation, options)]


def _of(results, case, operation, options):
    key, what = (case.name, operation), f"{case.name}, {operation}"
    if key not in results:
        return []
    found = figures.memory(results, key, f"{what}: peak memory", PEAK)
    if operation in case.times_cp:
        found.append(figures.most(what, results.ratio(key, _cp(key)), case.times_cp[operation], "{:.2f} × cp"))
    if operation in case.rates:
        rate = options.size / case.part / MIB / results.median(key)
        found.append(figures.least(what, rate, case.rates[operation], "{:.0f} MiB/s"))
    return found


def _cp(key):
    return ("cp", *key)


def times(results, cases, options):
    rows = []
    for case in cases:
        for operation in OPERATIONS:
            key = (case.name, operation)
            if key not in results:
                continue
            median = results.median(key)
            wanted = verdict(_of(results, case, operation, options)) if options.size >= 1 << 30 else ["", ""]
            rows.append([
                case.name, operation, seconds(median), seconds(results.least(key)), seconds(results.median(_cp(key))),
                f"{results.ratio(key, _cp(key)):.2f}", f"{options.size / case.part / MIB / median:.0f}",
                seconds(results.median(key, "user")), seconds(results.median(key, "system")),
                memory(results.peaks.get(key)), *wanted,
            ])  # fmt: skip
    header = ["", "", "median", "min", "cp", "× cp", "MiB/s", "user", "system", "peak MiB", "wanted", ""]
    return Table(f"{options.size_name}, from file to file", header, rows, f"{options.rounds} rounds.")
