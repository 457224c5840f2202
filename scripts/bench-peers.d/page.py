"""The page of the results."""

import os
import subprocess
import time
from collections import Counter
from pathlib import Path
from statistics import median

import machine

# The script keeps this section and what follows it, because a person writes it about one run.
READING = "## Reading"

INTRODUCTION = """\
# The lab beside other tools

How often the lab and its peers report a leak where there is none, and how often they find one. Made by
`scripts/bench-peers`; every figure comes from one run of it. Only the section *Reading* is written by hand.

Each tool measures the same functions, each time in a new process. In each round every tool runs once on every function,
in random order: first on the machine as it was, then beside four processes that sort numbers all the time (*busy*).
"""


def text(cases, tools, results, facts):
    parts = [INTRODUCTION, "## Summary\n", summary(cases, tools, results), WORDS]
    for kind, title in [("null", "## Functions that do not leak\n"), ("leak", "## Functions that leak\n")]:
        some = [case for case in cases if case[1] == kind]
        if some:
            parts += [title, verdicts(some, tools, results)]
    parts += ["## What was measured\n", definitions(cases, tools), MISSING, table(["Made with", ""], facts)]
    return "\n".join(parts)


WORDS = """\
- *False alarms*: a leak was reported in a function that does not leak, with the exact 95 % interval of the rate.
- *Found*: a leak was reported in a function that leaks.
- *Small*: the lab reports a real difference below its threshold (`BELOW_THRESHOLD`). Where nothing leaks, that counts
  as a false alarm. The other tools have no such verdict.
- *Missed*: a leaking function passed (`none` in the tables below). `dudect-bencher` has no verdict of that kind: a
  small t means that nothing was found so far.
- *Undecided*: inconclusive, invalid or unmeasurable, over all functions.
- *Time*: the median of a run, from the generation of inputs to the verdict.
"""

MISSING = """\
The original dudect in C is not measured: Debian, PyPI, npm and crates.io have no package `dudect`.
"""


def summary(cases, tools, results):
    head = ["Tool", "Machine", "False alarms", "Found", "Small", "Missed", "Undecided", "Time"]
    rows = []
    for tool, _ in tools:
        for busy in (False, True):
            of = {kind: runs(cases, kind, tool, busy, results) for kind in ("null", "leak")}
            count = {kind: Counter(one["verdict"] for one in some) for kind, some in of.items()}
            nulls, leaks = len(of["null"]), len(of["leak"])
            alarms = count["null"]["leak"] + count["null"]["small"]
            lower, upper = interval(alarms, nulls)
            rows.append([
                f"`{tool}`",
                "busy" if busy else "as it was",
                f"{alarms} of {nulls} ({100 * lower:.1f} to {100 * upper:.1f} %)",
                f"{count['leak']['leak']} of {leaks}",
                count["leak"]["small"],
                count["leak"]["none"],
                count["null"]["undecided"] + count["leak"]["undecided"],
                seconds(of["null"] + of["leak"]),
            ])
    return table(head, rows)


def runs(cases, kind, tool, busy, results):
    names = [case[0] for case in cases if case[1] == kind]
    return [one for one in results if one["case"] in names and one["tool"] == tool and one["busy"] == busy]


def verdicts(cases, tools, results):
    rows = []
    for name, *_ in cases:
        for busy in (False, True):
            some = [one for one in results if one["case"] == name and one["busy"] == busy]
            cells = [cell([one for one in some if one["tool"] == tool]) for tool, _ in tools]
            rows.append([f"`{name}`", "busy" if busy else "as it was", *cells])
    return table(["Function", "Machine", *(f"`{tool}`" for tool, _ in tools)], rows)


def cell(some):
    count = Counter(one["verdict"] for one in some)
    words = [f"{count[word]} {word}" for word in ("leak", "small", "none", "undecided") if count[word]]
    return f"{', '.join(words)}; {seconds(some)}"


def seconds(some):
    return f"{median([one['seconds'] for one in some]):.2f} s" if some else "–"


def definitions(cases, tools):
    rows = [[f"`{name}`", "yes" if kind == "leak" else "no", what] for name, kind, what in cases]
    return table(["Function", "Leaks", "What it is"], rows) + "\n" + table(
        ["Tool", "How it is used"], [[f"`{name}`", what] for name, what in tools]
    )


def facts(options, began, before, results, binary):
    """Returns rows that say how and where the results were made."""
    chosen = f" --cases {','.join(options.cases)}" if options.cases else ""
    clock = subprocess.run([binary, "clock"], check=True, capture_output=True, text=True).stdout.strip()
    others = {busy: [one["others"] for one in results if one["busy"] == busy] for busy in (False, True)}
    return [
        ["command", f"`scripts/bench-peers --nulls {options.nulls} --leaks {options.leaks}{chosen} --markdown FILE`"],
        [
            "runs",
            f"for each tool and state of the machine: {options.nulls} of each function that does not leak, "
            f"{options.leaks} of each that leaks",
        ],
        ["date", f"{time.strftime('%Y-%m-%d', time.gmtime(began))}, {(time.time() - began) / 60:.0f} minutes"],
        *([name, value] for name, value in machine.describe(".") if name in ("CPU", "memory", "system")),
        ["the lab's clock", clock],
        ["load average", f"{before:.1f} before, {machine.load():.1f} after"],
        [
            "other runnable processes at the start of a run",
            f"median {median(others[False]):.0f} as it was (at most {max(others[False])}), "
            f"{median(others[True]):.0f} busy (at most {max(others[True])})",
        ],
        ["build", os.environ["BENCH_BUILD"]],
    ]


def interval(hits, trials):
    """Returns the Clopper-Pearson interval of a rate at 95 %, by bisection of the binomial distribution."""
    if not trials:
        return 0.0, 1.0
    lower = 0.0 if hits == 0 else bisect(lambda rate: 1 - below(hits - 1, trials, rate) < 0.025)
    upper = 1.0 if hits == trials else bisect(lambda rate: below(hits, trials, rate) > 0.025)
    return lower, upper


def bisect(is_low):
    """Returns the rate at which `is_low` turns from true to false."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if is_low(middle) else (low, middle)
    return low


def below(hits, trials, rate):
    """Returns the probability of at most `hits` hits."""
    term, total = (1 - rate) ** trials, 0.0
    for number in range(hits + 1):
        total += term
        term *= (trials - number) / (number + 1) * rate / (1 - rate) if rate < 1 else 0.0
    return total


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(str(value) for value in line)} |\n" for line in lines)


def write(name, made):
    path = Path(name)
    old = path.read_text() if path.exists() else ""
    reading = READING + old.split(READING, 1)[1] if READING in old else ""
    path.write_text(made + ("\n" + reading if reading else ""))
