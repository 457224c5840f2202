"""The tables of sealing."""

from contestants import MODES, YARDSTICK
from tables import Table, memory, number, rate, seconds, timed, verdict
from wanted import OPERATIONS, OURS


def files(results, size, names, verdicts, count):
    rows = []
    for operation in OPERATIONS:
        yardstick = (size, YARDSTICK, operation)
        for name in names:
            key = (size, name, operation)
            if key not in results:
                continue
            rows.append([
                name, _operation(name, operation), *timed(results, key), _beside(results, key, yardstick, size.small),
                rate(size.bytes, results.median(key)),
                seconds(results.median(key, "user")), seconds(results.median(key, "system")),
                memory(results.peaks.get(key)), *verdict(verdicts.get((name, operation), [])),
            ])  # fmt: skip
    header = [
        "",
        "",
        "median",
        "min",
        "more than cp" if size.small else "× cp",
        "GB/s",
        "user",
        "system",
        "peak MiB",
        "wanted",
        "",
    ]
    return Table(
        f"{size.name}, from file to file",
        header,
        rows,
        f"{count} rounds. The system samples user and system time: on small files only their sum means something.",
    )


def _operation(name, operation):
    return {"seal": "copy", "open": "copy the copy"}[operation] if name == YARDSTICK else operation


def _beside(results, key, yardstick, small):
    if key == yardstick:
        return ""
    return f"{results.difference(key, yardstick) * 1e3:+.2f} ms" if small else f"{results.ratio(key, yardstick):.2f}"


def pipes(results, size, names, verdicts, count):
    rows = []
    for operation in OPERATIONS:
        yardstick = ("pipes", YARDSTICK, operation)
        for name in names:
            key = ("pipes", name, operation)
            if key not in results:
                continue
            shown = "cat" if name == YARDSTICK else name
            speed = "" if key == yardstick else f"{1 / results.ratio(key, yardstick):.2f}"
            rows.append([
                shown, "copy" if name == YARDSTICK else operation, *timed(results, key), speed,
                rate(size.bytes, results.median(key)), seconds(results.median(key, "user")),
                seconds(results.median(key, "system")), memory(results.peaks.get(key)),
                *verdict(verdicts.get((name, operation), [])),
            ])  # fmt: skip
    header = ["", "", "median", "min", "speed ÷ cat", "GB/s", "user", "system", "peak MiB", "wanted", ""]
    about = (
        f"`cat FILE | … | cat > /dev/null`, {count} rounds. Processor time and memory are those of the program in "
        "the middle."
    )
    return Table(f"{size.name}, through pipes", header, rows, about)


def passphrase(results, size, verdicts, count):
    shown = {
        "both": f"{size.name} with a passphrase",
        "passphrase alone": "1 byte with a passphrase",
        "data alone": f"{size.name} with a key",
    }
    rows = []
    for operation in OPERATIONS:
        for name, what in shown.items():
            key = ("passphrase", name, operation)
            cells = [
                what,
                operation,
                *timed(results, key),
                seconds(results.median(key, "cpu")),
                memory(results.peaks.get(key)),
            ]
            rows.append(cells + verdict(verdicts.get((name, operation), [])))
    header = ["", "", "median", "min", "processor", "peak MiB", "wanted", ""]
    about = f"{count} rounds. Argon2id needs its memory; the limit of 16 MiB is for files without a passphrase."
    return Table("Passphrase and data at once", header, rows, about)


def ranges(results, size, count):
    rows = []
    for name, what in [("large", f"4 KiB out of {size.name}"), ("tiny", "4 KiB out of 4 KiB")]:
        key = ("range", name, "open")
        rows.append([what, "open --range", *timed(results, key), memory(results.peaks.get(key))])
    about = (
        f"{count} rounds, each at another offset, as a whole process. Reads inside one process stand under "
        "“In one process”."
    )
    return Table("Ranges", ["", "", "median", "min", "peak MiB"], rows, about)


def classical(results, sizes, counts):
    """The table in the form that such tools print."""
    rows = []
    for size in sizes:
        for mode, name in zip(MODES, OURS):
            for operation in OPERATIONS:
                key = (size, name, operation)
                time, cpu = results.median(key), results.median(key, "cpu")
                per_second = number(size.bytes / time)
                row = [
                    size.name,
                    f"{mode.upper() if mode != 'hybrid' else 'Hybrid'} {operation}",
                    seconds(time),
                    seconds(cpu),
                ]
                rows.append([*row, str(counts[size]), per_second, memory(results.peaks.get(key))])
    header = ["", "", "time", "CPU", "iterations", "bytes per second", "memory MiB"]
    return Table(
        "The classical table", header, rows, "Whole processes, medians; a KiB is 1024 bytes, a GB a thousand million."
    )
