"""Pictures that carry data, beside `cp`. The shell script `scripts/bench-pictures` builds, installs and starts it."""

import os
import sys

import cases
import frame
import machine
import measure
import options as asked
import page
import tables
from rounds import Bench

INTRODUCTION = """\
# Pictures beside `cp`

Made by `scripts/bench-pictures`; every figure comes from one run of it.

The benchmark times whole processes from the outside. In each round every case runs once, in random order: it hides
the data in pictures, then reveals them. Directly before each of these runs, `cp` copies the data, so that other
programs on the machine slow down both. Before both, the old output is removed, dirty pages are written to the disk
(`sync`), and the input is read into the page cache. Each program runs twice, and the second run counts: it uses the
memory that the first freed, because new memory may have to wait for a virtual machine's host. *× cp* is the median
over the rounds of the time divided by that of the `cp` before it. The rate counts the data, not the pictures. Peak
memory comes from a separate run, after which the revealed data are compared with the source.
"""


def main():
    options = asked.parse(sys.argv[1:])
    if asked.disk(options) > machine.memory():
        print("warning: data and pictures do not fit into free memory: the disk will be measured too")
    frame.enter(
        "bench-pictures", options, asked.disk(options), 0, "less with --size", lambda *given: run(options, *given)
    )


def run(options, work, _gpg_home, runner):
    everyone, versions, missing = cases.cases(os.environ["BENCH_BINARY"], work, options)
    about, notes = frame.about(work, versions, missing)
    bench = Bench(work, runner, frame.progress)
    plain = measure.data(bench, options.size)
    prepared = [case for case in everyone if measure.prepare(bench, case, plain, notes)]
    bench.rounds(
        [lambda case=case: measure.turn(bench, case, plain) for case in prepared], options.rounds, options.size_name
    )
    frame.progress("")
    verdicts = page.verdicts(bench.results, prepared, options)
    parts = [tables.verdicts(verdicts)] if verdicts else []
    parts.append(page.times(bench.results, prepared, options))
    print(*(table.text() for table in parts), sep="\n")
    if options.markdown:
        text = [table.markdown() for table in parts]
        remarks = [f"{case.name}: {case.note}." for case in prepared if case.note]
        frame.write(options.markdown, INTRODUCTION, frame.ended(about), notes, remarks, text)
    if options.raw:
        frame.write_raw(options.raw, bench.results)


if __name__ == "__main__":
    main()
