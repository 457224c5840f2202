"""Pairs of commands on one core and on two: the first of a pair is measured beside the second, in the same round."""

import argparse
import os
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Callable

import frame
import tables
from figures import Verdict
from rounds import Bench
from tables import Table

CORES = [1, 2]

METHOD = """\
The benchmark times whole processes from the outside. In each round every pair runs once, in random order: the first
command, then the second. Before each command a file of the same size is written and removed, so that both find free
memory alike; then dirty pages are written to the disk (`sync`); the input is in the page cache. *Median ratio* is the
median over the rounds of the first time divided by the second of the same round. The verdicts compare the least times:
a virtual machine at times waits for memory of its host, which adds up to a second for 1 GiB. *User* is the processor
time outside of the system's calls. Peak memory comes from a separate run.
"""


@dataclass
class Pair:
    what: str
    # Two commands. Each writes the file `output` in the working folder, or no file.
    first: list
    second: list
    # Takes the number of cores, and the least time of the first divided by that of the second. Returns the verdict.
    verdict: Callable[[int, float], Verdict]
    environment: dict = field(default_factory=dict)


def parser(name, page):
    """Returns the parser of the options that all benchmarks of pairs share."""
    parser = argparse.ArgumentParser(prog=f"scripts/{name}", description="Pairs of commands, measured in one run.")
    add = parser.add_argument
    add("--dir", metavar="DIR", help=f"the folder to work in (default: target/{name}); what is made there is removed")
    add("--size", type=int, default=1 << 30, metavar="BYTES", help="the length of the file (default: 1 GiB)")
    add("--rounds", type=int, default=7, metavar="N", help="rounds (default: 7)")
    add("--binary", metavar="PATH", help="the deadpan to measure (default: built with the dist profile)")
    add("--markdown", metavar="FILE", help=f"where the page goes, such as {page}")
    add("--raw", metavar="FILE", help="where every single time goes, as JSON")
    return parser


def run(options, work, runner, introduction, versions, prepare, after):
    """Measures and reports. `prepare` gets the bench and the file, and returns the pairs; `after` gets the bench, and
    returns verdicts and sentences about what is not measured in pairs."""
    about, notes = frame.about(work, versions, {})
    bench = Bench(work, runner, frame.progress)
    plain = bench.path("plain")
    bench.fill(options.size, plain)
    pairs = prepare(bench, plain)
    turns = [lambda pair=pair, cores=cores: turn(bench, pair, cores, options.size) for pair in pairs for cores in CORES]
    bench.rounds(turns, options.rounds, tables.size(options.size))
    rows, verdicts = [], []
    for cores in CORES:
        for pair in pairs:
            row, verdict = result(bench, options.size, pair, cores)
            rows.append(row)
            verdicts.append(verdict)
    more, remarks = after(bench)
    frame.progress("")
    header = ["Cores", "First : second", *2 * ["Median", "Least", "User"], "Median ratio", "Ratio of least", "MiB"]
    about_table = f"{tables.size(options.size)}, {options.rounds} rounds: the first, the second. *MiB* is the first's."
    parts = [tables.verdicts(verdicts + more), Table("Pairs", header, rows, about_table)]
    print(*(table.text() for table in parts), *remarks, sep="\n")
    if options.markdown:
        text = [table.markdown() for table in parts]
        frame.write(options.markdown, introduction, frame.ended(about), notes, remarks, text)
    if options.raw:
        frame.write_raw(options.raw, bench.results)


def turn(bench, pair, cores, size):
    contestant = SimpleNamespace(environment=pair.environment)
    for side, command in enumerate([pair.first, pair.second]):
        # Memory that was freed a moment ago is much cheaper than memory that a virtual machine has to get again, so
        # each command finds the memory of a file that was just removed.
        warm(bench.path("output"), size)
        bench.rest(bench.path("output"))
        bench.timed((pair.what, cores, side), [held(cores, command)], "/dev/null", contestant)


def warm(path, size):
    piece = bytes(1 << 20)
    with open(path, "wb") as file:
        for _ in range(size >> 20):
            file.write(piece)


def result(bench, size, pair, cores):
    results, keys = bench.results, [(pair.what, cores, side) for side in (0, 1)]
    bench.rest(bench.path("output"))
    bench.checked(keys[0], [held(cores, pair.first)], "/dev/null", SimpleNamespace(environment=pair.environment))
    # A virtual machine now and then waits for memory of its host, a second for 1 GiB. That only ever adds time.
    ratio, row = results.least(keys[0]) / results.least(keys[1]), [str(cores), pair.what]
    for key in keys:
        row += [tables.seconds(time) for time in (results.median(key), results.least(key), results.median(key, "user"))]
    row += [f"{results.ratio(*keys):.2f}", f"{ratio:.2f}", tables.memory(results.peaks[keys[0]])]
    return row, pair.verdict(cores, ratio)


def on(what, cores):
    """Returns the name of a verdict."""
    return f"{what}, {'one core' if cores == 1 else f'{cores} cores'}"


def held(cores, command):
    """Returns the command held to this number of cores."""
    return ["taskset", "-c", f"0-{cores - 1}", *command]


def enter(name, options, need, run):
    frame.enter(name, options, need, 0, "less with --size", run)
