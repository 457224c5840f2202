"""The lab beside other tools that look for leaks through time. The shell script `scripts/bench-peers` builds and starts
this driver."""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time

import machine
import page

BINARY = os.environ["BENCH_BINARY"]
# A tool that takes longer counts as undecided.
LIMIT = 90
BUSY = 4
# The threshold that the README of dudect-bencher names.
THRESHOLD = 5.0


def main():
    options = parse()
    if options.again:
        with open(options.again) as file:
            made = json.load(file)
    else:
        made = measured(options)
    if options.raw:
        with open(options.raw, "w") as file:
            json.dump(made, file)
    text = page.text(**made)
    if options.markdown:
        page.write(options.markdown, text)
    else:
        print(text)


def measured(options):
    """Returns the cases, the tools, the results, and the rows that say how they were made."""
    cases, tools = listed()
    cases = [case for case in cases if not options.cases or case[0] in options.cases]
    began, before = time.time(), machine.load()
    results = measure(cases, tools, options)
    facts = page.facts(options, began, before, results, BINARY)
    return {"cases": cases, "tools": tools, "results": results, "facts": facts}


def parse():
    parser = argparse.ArgumentParser(prog="bench-peers", description="measures how often the lab and its peers err")
    parser.add_argument("--nulls", type=int, default=30, help="runs of each tool on each function without a leak")
    parser.add_argument("--leaks", type=int, default=20, help="runs of each tool on each function that leaks")
    parser.add_argument("--cases", type=lambda text: text.split(","), help="only these cases, separated by commas")
    parser.add_argument("--markdown", help="write the page to this file")
    parser.add_argument("--raw", help="write all results to this file, as JSON")
    parser.add_argument("--again", help="measure nothing, and make the page from this file of --raw")
    return parser.parse_args()


def listed():
    """Returns the cases (name, kind, description) and the tools (name, description) of the binary."""
    lines = subprocess.run([BINARY, "list"], check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [line.split("\t") for line in lines]
    return [row[1:] for row in rows if row[0] == "case"], [row[1:] for row in rows if row[0] == "tool"]


def measure(cases, tools, options):
    """Returns all runs. In each round, each tool runs once on each case, in random order: first all of them on the
    machine as it is, then all of them beside other load."""
    results = []
    rounds = max(options.nulls, options.leaks)
    for number in range(rounds):
        wanted = [case[0] for case in cases if number < (options.leaks if case[1] == "leak" else options.nulls)]
        runs = [(case, tool[0]) for case in wanted for tool in tools]
        for busy in (False, True):
            random.shuffle(runs)
            with Load(BUSY if busy else 0):
                for case, tool in runs:
                    others = runnable()
                    verdict, seconds = run(case, tool)
                    results.append({"case": case, "tool": tool, "busy": busy, "verdict": verdict, "seconds": seconds,
                                    "others": others})
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    return results


def runnable():
    """Returns the number of other processes and threads that run or wait for a processor."""
    with open("/proc/loadavg") as file:
        return int(file.read().split()[3].split("/")[0]) - 1


def run(case, tool):
    """Runs one tool on one case in a process of its own, and returns the verdict and the seconds."""
    start = time.monotonic()
    try:
        done = subprocess.run([BINARY, case, tool], capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "undecided", time.monotonic() - start
    verdict = re.search(r"^verdict: (\w+)$", done.stdout, re.M)
    seconds = re.search(r"^seconds: ([\d.]+)$", done.stdout, re.M)
    if done.returncode or not verdict or not seconds:
        sys.exit(f"error: {tool} failed on {case}\n{done.stdout}{done.stderr}")
    verdict = verdict[1]
    if verdict == "printed":
        statistic = float(re.search(r"max t = (\S+),", done.stdout)[1])
        verdict = "leak" if abs(statistic) > THRESHOLD else "none"
    return verdict, float(seconds[1])


class Load:
    """Keeps processors busy with this many processes. They end when their standard input ends."""

    def __init__(self, count):
        self.count = count

    def __enter__(self):
        self.processes = [subprocess.Popen([BINARY, "busy"], stdin=subprocess.PIPE) for _ in range(self.count)]

    def __exit__(self, *_):
        for process in self.processes:
            process.stdin.close()
        for process in self.processes:
            process.wait()


if __name__ == "__main__":
    main()
