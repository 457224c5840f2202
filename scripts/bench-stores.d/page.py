"""The tables of stores."""

import os
import statistics

import tables
import with_ray
from contestants import INSIDE
from measure import LENGTH, SMALL_LENGTH, TIMES
from tables import Table, memory, number, rate, seconds, timed, verdict
from wanted import SEAL

JUDGED = ["peak MiB", "wanted", ""]


def one(measured, section, size, everyone, yardstick, verdicts, count):
    """The table of the commands for one object."""
    title = {
        "seal": f"{tables.size(size)}, from store to store",
        "open": f"{tables.size(size)}, opened from store to store",
    }
    speed = lambda key: rate(size, measured.bench.results.median(key))
    rows = [
        _row(measured, section, contestant, yardstick, speed, verdicts) for contestant in everyone if contestant.one
    ]
    header = ["", "", "median", "min", f"speed ÷ {yardstick or 'a copy'}", "GB/s", "client", "store", *JUDGED]
    return Table(title[section], header, rows, _about(count) + (_limit(measured) if section == "seal" else ""))


def _limit(measured):
    """What a program that does nothing would reach: the store's own work has to be done in any case."""
    results, ours, peer = measured.bench.results, ("seal", SEAL), ("seal", "rclone crypt")
    if ours not in results or peer not in results:
        return ""
    store, cores = statistics.median(measured.server[ours]), len(os.sched_getaffinity(0))
    return (
        f" The store works {seconds(store)} for `deadpan seal`. On {cores} cores, a program that needed no time itself "
        f"would be {results.median(peer) / (store / cores):.2f} × as fast as `rclone crypt`."
    )


def many(measured, objects, everyone, yardstick, verdicts, count):
    speed = lambda key: number(objects / measured.bench.results.median(key))
    rows = [
        _row(measured, "small", contestant, yardstick, speed, verdicts) for contestant in everyone if contestant.many
    ]
    header = ["", "", "median", "min", f"speed ÷ {yardstick}", "objects/s", "client", "store", *JUDGED]
    return Table(f"{number(objects)} objects of {SMALL_LENGTH // 1000} KB", header, rows, _about(count))


def shares(measured, size, everyone, verdicts, count):
    results, rows = measured.bench.results, []
    for contestant in everyone:
        key, without = ("ray", contestant.name), ("ray", with_ray.PROCESSES)
        judged = verdict(verdicts) if contestant.name == with_ray.TASKS else ["", ""]
        if key not in results or without not in results:
            rows.append([contestant.name, "failed", *[""] * 5, *judged])
            continue
        beside = [f"{results.ratio(key, without):.2f}", f"{results.difference(key, without):.2f} s"]
        store = seconds(statistics.median(measured.server[key]))
        rows.append([contestant.name, "", *timed(results, key), *beside, store, *judged])
    header = ["", "", "median", "min", f"time ÷ {with_ray.PROCESSES}", "longer by", "store", "wanted", ""]
    about = (
        f"{with_ray.OBJECTS} objects of {tables.size(size // with_ray.OBJECTS)}, {count} rounds, on a cluster that "
        "runs already. The time with Ray is that of `python -m deadpan.cluster`, from its start to its end. The tasks "
        "have the priority of the processes (`RAY_worker_niceness=0`)."
    )
    return Table(f"{tables.size(size)} with Ray", header, rows, about)


def ranges(measured, begin, verdicts):
    results, rows = measured.bench.results, []
    for name, requests in measured.requests.items():
        key = ("range", name)
        costs = [seconds(results.median(key, "cpu")), memory(results.peaks.get(key))]
        cells = [name, "", str(requests), *timed(results, key), *costs]
        rows.append([*cells, *(verdict(verdicts) if name.startswith("deadpan") else ["", ""])])
    about = (
        f"{LENGTH} bytes from byte {begin} of the sealed object on, {TIMES} rounds. `rclone cat` reads as many bytes "
        "without opening them. The requests are those that the store wrote down in a separate run."
    )
    return Table("A range", ["", "", "requests", "median", "min", "client", *JUDGED], rows, about)


def _row(measured, section, contestant, yardstick, speed, verdicts):
    results, key = measured.bench.results, (section, contestant.name)
    judged = verdict(verdicts) if contestant.ours else ["", ""]
    if key not in results:
        return [contestant.name, "failed", *[""] * 7, *judged]
    ratio = f"{results.ratio((section, yardstick), key):.2f}" if yardstick and (section, yardstick) in results else ""
    store = statistics.median(measured.server[key])
    costs = [seconds(results.median(key, "cpu")), seconds(store), memory(results.peaks.get(key))]
    return [contestant.name, contestant.kind, *timed(results, key), ratio, speed(key), *costs, *judged]


def _about(count):
    return (
        f"{count} rounds. *client* and *store* are the processor times of the program and of the server, which share "
        f"the cores. A {INSIDE} sends no data to this machine."
    )
