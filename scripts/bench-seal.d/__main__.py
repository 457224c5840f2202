"""The command line beside `cp` and its peers. The shell script `scripts/bench-seal` builds, installs and starts it."""

import os
import sys

import contestants
import frame
import machine
import measure
import options as asked
import page
import tables
import wanted
from rounds import Bench

INTRODUCTION = """\
# Sealing beside `cp` and its peers

Made by `scripts/bench-seal`; every figure comes from one run of it.

The benchmark times whole processes from the outside. In each round every program runs once, in random order: it seals
the file, then opens the sealed file; `cp` copies the file, then the copy. Before each run the old output is removed
and dirty pages are written to the disk (`sync`); the input is in the page cache. *× cp* is the median over the rounds
of the time divided by that of `cp` in the same round; *more than cp* is the median of the differences. Peak memory
comes from a separate run. For each row, the opened file is compared once with the source.
"""


def main():
    options = asked.parse(sys.argv[1:])
    cached = max((3 * size.bytes for size in options.sizes if "files" in options.only), default=0)
    if cached > machine.memory():
        print(
            "warning: the largest file, sealed and opened, does not fit into free memory: the disk will be measured too"
        )
    need = asked.disk(options)
    frame.enter("bench-seal", options, need, 0, "smaller files with --sizes", lambda *given: run(options, *given))


def run(options, work, gpg_home, runner):
    ours = contestants.deadpan(os.environ["BENCH_BINARY"], work)
    peers, versions, missing = contestants.peers(options.peers, work, gpg_home)
    everyone = [contestants.yardstick(), *ours, *peers]
    about, notes = frame.about(work, versions, missing)
    bench = Bench(work, runner, frame.progress)
    parts, verdicts, in_process = sections(options, bench, everyone, work)
    frame.progress("")
    parts = [tables.verdicts(verdicts), *parts]
    print(*(table.text() for table in parts), sep="\n")
    if in_process:
        print("\nIn one process", *in_process, sep="\n")
    if options.markdown:
        remarks = [f"{one.name}: {one.note}." for one in everyone if one.note]
        text = [table.markdown() for table in parts]
        if in_process:
            text += [
                "## In one process",
                "",
                "`cargo bench -p deadpan-bench --bench seal_whole -- DIR`",
                "",
                "```text",
                *in_process,
                "```",
                "",
            ]
        frame.write(options.markdown, INTRODUCTION, frame.ended(about), notes, remarks, text)
    if options.raw:
        frame.write_raw(options.raw, bench.results)


def sections(options, bench, everyone, work):
    """Runs the selected parts. Each gives tables and verdicts."""
    parts, verdicts, in_process = [], [], []
    names, results = [one.name for one in everyone], bench.results
    hybrid = next(one for one in everyone if one.name == "deadpan hybrid")
    binary, large = os.environ["BENCH_BINARY"], options.large
    count = asked.rounds(options, large)

    def conclude(table, found):
        parts.append(table)
        verdicts.extend(one for some in found.values() for one in some)

    if "files" in options.only:
        counts = {size: asked.rounds(options, size) for size in options.sizes}
        for size in options.sizes:
            measure.files(bench, everyone, size, counts[size])
            found = wanted.of_files(results, size, names)
            conclude(page.files(results, size, names, found, counts[size]), found)
        parts.insert(0, page.classical(results, options.sizes, counts))
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
        frame.progress("in one process: building and running the library's own benchmark")
        in_process = measure.process(work)
        verdicts += wanted.of_process(in_process)
    elif options.quick:
        print(
            "skipped: inside one process (`cargo bench -p deadpan-bench --bench seal_whole -- DIR`), "
            "which takes minutes to build"
        )
    return parts, verdicts, in_process


if __name__ == "__main__":
    main()
