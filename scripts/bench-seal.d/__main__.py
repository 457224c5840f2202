"""`scripts/bench-seal`: the command line beside `cp` and its peers. The shell script of that name builds, installs and starts this."""

import json
import os
import shutil
import signal
import sys
import tempfile

import contestants
import machine
import measure
import options as asked
import page
import wanted
from child import Failed, Runner

INTRODUCTION = """\
# Sealing beside `cp` and its peers

Made by `scripts/bench-seal`; every figure comes from one run of it.

Whole processes, timed from the outside. In each round every program runs once, in random order: it seals the file, then opens what it
sealed; `cp` copies the file, then the copy. Before each run its output is removed and the system writes out what it holds (`sync`), and what
is read is in the page cache. *× cp* is the median over the rounds of the time divided by that of `cp` in the same round; *more than cp* is
the median of the differences. The peak memory is that of a run of its own. What was opened is compared with the source once for each row.
"""


def main():
    options = asked.parse(sys.argv[1:])
    # Whatever ends us, the files go: an exception runs the `finally` below.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    folder = os.path.abspath(options.dir or os.path.join(os.environ["BENCH_SEAL_TARGET"], "bench-seal"))
    os.makedirs(folder, exist_ok=True)
    check_room(folder, options)
    work, gpg_home = tempfile.mkdtemp(prefix="run-", dir=folder), contestants.new_gpg_home()
    runner = Runner(work)
    try:
        runner.check_peak()
        run(options, work, gpg_home, runner)
    except (Failed, contestants.Unfit) as failure:
        sys.exit(f"error: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        runner.stop()
        contestants.remove_gpg_home(gpg_home)
        shutil.rmtree(work, ignore_errors=True)


def check_room(folder, options):
    need, free = asked.disk(options), machine.available(folder)
    print(f"disk: {need / 1e9:.1f} GB needed at most at one time, {free / 1e9:.1f} GB free")
    if need > free:
        sys.exit("error: not enough room on the disk\nhint: give another folder with --dir, or smaller files with --sizes")
    cached = max((3 * size.bytes for size in options.sizes if "files" in options.only), default=0)
    if cached > machine.memory():
        print("warning: the largest file, sealed and opened, does not fit into the memory that is free: the disk will be measured too")


def run(options, work, gpg_home, runner):
    skipped = dict(line.split("\t") for line in os.environ.get("BENCH_SEAL_SKIPPED", "").splitlines())
    ours = contestants.deadpan(os.environ["BENCH_SEAL_BINARY"], work)
    peers, versions, missing = contestants.peers(options.peers, work, gpg_home)
    notes = [f"skipped: {name}: {skipped.get(name, why)}" for name, why in missing.items()]
    everyone = [contestants.yardstick(), *ours, *peers]
    about = [*machine.describe(work), ("deadpan", os.environ["BENCH_SEAL_BUILD"]), *versions.items()]
    print(*(f"{name}: {value}" for name, value in about), *notes, sep="\n")
    load = machine.load()
    if load > 0.5:
        print(f"warning: others are at work here (load {load:.1f}): the times will be theirs too")
    bench = measure.Bench(work, runner, progress)
    tables, verdicts, in_process = sections(options, bench, everyone, work)
    progress("")
    about.insert(5, ("load", f"{load:.2f} at the start, {machine.load():.2f} at the end"))
    tables = [page.verdicts(verdicts), *tables]
    print(*(table.text() for table in tables), sep="\n")
    if in_process:
        print("\nIn one process", *in_process, sep="\n")
    if options.markdown:
        write(options.markdown, about, everyone, notes, tables, in_process)
    if options.raw:
        with open(options.raw, "w") as file:
            json.dump([{"what": [str(getattr(part, "name", part)) for part in key], "times": [took._asdict() for took in times]}
                       for key, times in bench.results.times.items()], file, indent=1)  # fmt: skip


def sections(options, bench, everyone, work):
    """The parts that were asked for; each gives tables and verdicts."""
    tables, verdicts, in_process = [], [], []
    names, results = [one.name for one in everyone], bench.results
    hybrid = next(one for one in everyone if one.name == "deadpan hybrid")
    binary, large = os.environ["BENCH_SEAL_BINARY"], options.large
    count = asked.rounds(options, large)

    def conclude(table, found):
        tables.append(table)
        verdicts.extend(one for some in found.values() for one in some)

    if "files" in options.only:
        counts = {size: asked.rounds(options, size) for size in options.sizes}
        for size in options.sizes:
            measure.files(bench, everyone, size, counts[size])
            found = wanted.of_files(results, size, names)
            conclude(page.files(results, size, names, found, counts[size]), found)
        tables.insert(0, page.classical(results, options.sizes, counts))
    if "pipes" in options.only:
        measure.pipes(bench, everyone, large, count)
        found = wanted.of_pipes(results, names)
        conclude(page.pipes(results, large, names, found, count), found)
    if "passphrase" in options.only:
        measure.passphrase(bench, binary, hybrid, large, count)
        found = wanted.of_passphrase(results, large)
        conclude(page.passphrase(results, large, found, count), found)
    if "range" in options.only:
        times = 20 if options.quick else 100
        measure.ranges(bench, binary, hybrid, large, times)
        conclude(page.ranges(results, large, times), {})
    if "process" in options.only:
        progress("in one process: building and running the library's own benchmark")
        in_process = measure.process(work)
        verdicts += wanted.of_process(in_process)
    elif options.quick:
        print("skipped: inside one process (`cargo bench -p deadpan-seal --bench whole -- DIR`), which takes minutes to build")
    return tables, verdicts, in_process


def write(path, about, everyone, notes, tables, in_process):
    remarks = [f"- {one.name}: {one.note}." for one in everyone if one.note]
    lines = [INTRODUCTION, *(f"- {name}: {value}" for name, value in about), *(f"- {note}" for note in notes), "", *remarks, ""]
    lines += [table.markdown() for table in tables]
    if in_process:
        lines += ["## In one process", "", "`cargo bench -p deadpan-seal --bench whole -- DIR`", "", "```text", *in_process, "```", ""]
    with open(path, "w") as file:
        file.write("\n".join(lines).rstrip() + "\n")
    print(f"\nwritten: {os.path.relpath(path)}")


def progress(text):
    """One line that changes, on terminals only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
