"""The tables of folders."""

from contestants import YARDSTICK
from tables import Table, memory, number, rate, seconds, size, timed, verdict
from wanted import LARGE, ONE

WAYS = {"pack": "to one file", "unpack": "to a folder"}


def mixed(results, folder, contestants, verdicts, count):
    title = f"{number(folder.files)} small files and one of {size(folder.large)}"
    about = f"Files of 100 bytes to 8 kB, a hundred to a folder, and the large one beside the folders. {_about(count)}"
    return Table(
        title,
        *_there_and_back(results, "mixed", contestants, verdicts, "GB/s", lambda took: rate(folder.bytes, took)),
        about,
    )


def million(results, folder, contestants, verdicts, count):
    title = f"{number(folder.files)} tiny files"
    about = f"Files of 1 to 100 bytes, a thousand to a folder. Lists are written to `/dev/null`. {_about(count)}"
    return Table(
        title,
        *_there_and_back(
            results, "million", contestants, verdicts, "files/s", lambda took: number(folder.files / took)
        ),
        about,
    )


def large(results, folder, verdicts, count):
    rows = []
    yardstick = ("large", LARGE[0])
    for name in LARGE:
        key = ("large", name)
        speed = "" if key == yardstick else f"{1 / results.ratio(key, yardstick):.2f}"
        rows.append(
            [
                name,
                "",
                *timed(results, key),
                speed,
                rate(folder.bytes, results.median(key)),
                *_costs(results, key),
                *verdict(verdicts.get(name, [])),
            ]
        )
    header = ["", "", "median", "min", "speed ÷ cp -r", "GB/s", "processor", "peak MiB", "wanted", ""]
    about = f"{_about(count)} The input is in the page cache as far as it fits. The output is not."
    return Table(f"{size(folder.bytes)} in {folder.files} files", header, rows, about)


def one(results, folder, verdicts, count):
    rows = []
    for kind in ONE:
        key = ("one", kind)
        rows.append(
            [
                f"deadpan open {kind} --only FILE",
                "",
                *timed(results, key),
                *_costs(results, key),
                *verdict(verdicts[kind]),
            ]
        )
    about = (
        f"A file of 1000 bytes, after {folder.files} of {size(folder.each)}. {count} times each, in random order, and "
        "compared with the source; whole processes."
    )
    return Table(
        f"One file out of {size(folder.bytes)}",
        ["", "", "median", "min", "processor", "peak MiB", "wanted", ""],
        rows,
        about,
    )


def _there_and_back(results, section, contestants, verdicts, unit, speed):
    """Returns the header and the rows: first the sealing operations, then the lists, then the opening ones."""
    rows = []
    for phase in ("pack", "list", "unpack"):
        for one in contestants:
            for operation, way in one.ways.items():
                key, about = (section, one.name, operation), WAYS.get(operation, "list")
                if key not in results or about != WAYS.get(phase, "list"):
                    continue
                # The ratio is to tar's first way of doing the same.
                yardstick = (section, YARDSTICK, operation if operation in WAYS else "tar tf")
                beside = "" if key == yardstick else f"{results.ratio(key, yardstick):.2f}"
                took = results.median(key)
                rows.append(
                    [
                        way.shown,
                        about,
                        *timed(results, key),
                        beside,
                        speed(took),
                        *_costs(results, key),
                        *verdict(verdicts.get((one.name, operation), [])),
                    ]
                )
    return ["", "", "median", "min", "× tar", unit, "processor", "peak MiB", "wanted", ""], rows


def _costs(results, key):
    return [seconds(results.median(key, "cpu")), memory(results.peaks.get(key))]


def _about(count):
    rounds = "1 round" if count == 1 else f"{count} rounds"
    return (
        f"{rounds}. Processor time is that of all stages together; the memory is that of the program that seals "
        "or opens."
    )
