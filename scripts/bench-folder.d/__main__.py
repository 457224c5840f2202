"""Folders beside tar, `cp -r` and other programs; started by the shell script `scripts/bench-folder`."""

import os
import sys

import contestants
import frame
import measure
import options as asked
import page
import tables
import wanted
from rounds import Bench

INTRODUCTION = """\
# Folders beside `tar`, `cp -r` and other programs

Made by `{command}`; every figure comes from one run of it.

The benchmark times whole processes from the outside. In each round every program runs once, in random order: it makes
one file of the folder, then a folder of that file. Before each run the old output is removed and dirty pages are
written to the disk (`sync`); the input is in the page cache. *× tar* is the median over the rounds of the time
divided by that of `tar` in the same round; `tar` neither seals nor hashes. Peak memory comes from a separate run.
Each program's opened folder is compared once with the source (`diff -r`), and each list must have as many lines as
the folder has entries. No program was asked to wait until its output is on the disk. The processor time and the
memory of child processes count if the program waits for their end.
"""


def main():
    options = asked.parse(sys.argv[1:])
    hint = "smaller folders with --scale and --million, or fewer with --only"
    frame.enter("bench-folder", options, *asked.disk(options), hint, lambda *given: run(options, *given))


def run(options, work, gpg_home, runner):
    tar, ours = contestants.tar(), contestants.deadpan(os.environ["BENCH_BINARY"], work)
    peers, versions, missing = contestants.peers(options.peers, work, gpg_home, runner)
    about, notes = frame.about(work, versions, missing)
    bench = Bench(work, runner, frame.progress)
    parts, verdicts = sections(options, bench, tar, ours, peers)
    frame.progress("")
    parts = [tables.verdicts(verdicts), *parts]
    print(*(table.text() for table in parts), sep="\n")
    if options.markdown:
        remarks = [f"{one.name}: {one.note}." for one in [*ours, *peers] if one.note]
        introduction = INTRODUCTION.format(command=asked.command(options))
        frame.write(
            options.markdown, introduction, frame.ended(about), notes, remarks, [table.markdown() for table in parts]
        )
    if options.raw:
        frame.write_raw(options.raw, bench.results)


def sections(options, bench, tar, ours, peers):
    """Runs the selected parts. Each gives a table and verdicts."""
    parts, verdicts, results = [], [], bench.results
    sealed = ours[0]

    def conclude(table, found):
        parts.append(table)
        verdicts.extend(one for some in found.values() for one in some)

    if "mixed" in options.only:
        folder, count, everyone = options.folders["mixed"], asked.rounds(options, "mixed"), [tar, *ours, *peers]
        measure.there_and_back(bench, "mixed", folder, everyone, count)
        found = wanted.of_mixed(results, everyone)
        conclude(page.mixed(results, folder, everyone, found, count), found)
    if "large" in options.only or "one" in options.only:
        folder, count = options.folders["large"], asked.rounds(options, "large")
        measure.make_large(bench, folder, sealed)
        if "large" in options.only:
            measure.large(bench, sealed, count)
            found = wanted.of_large(results)
            conclude(page.large(results, folder, found, count), found)
        if "one" in options.only:
            measure.one(bench, sealed)
            found = wanted.of_one(results)
            conclude(page.one(results, folder, found, measure.TIMES), found)
        measure.remove_large(bench)
    if "million" in options.only:
        folder, count, everyone = options.folders["million"], asked.rounds(options, "million"), [tar, *ours]
        measure.there_and_back(bench, "million", folder, everyone, count, lists=True)
        found = wanted.of_million(results, everyone)
        conclude(page.million(results, folder, everyone, found, count), found)
    return parts, verdicts


if __name__ == "__main__":
    main()
