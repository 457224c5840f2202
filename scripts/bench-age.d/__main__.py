"""Age files beside `age`, in pairs. The shell script `scripts/bench-age` builds and starts it."""

import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

INTRODUCTION = """\
# age files beside `age`

Made by `scripts/bench-age`. The benchmark times whole processes from the outside. In each round every program runs
once after the other: it seals the file, then opens the sealed file. Before each run the old output is removed and
dirty pages are written to the disk (`sync`); the input is in the page cache. *Times as fast* is the median over the
rounds of `age`'s time divided by Deadpan's in the same round. The opened file is compared with the source once. Peak
memory is that of one more run.
"""


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench-age", description=__doc__)
    parser.add_argument("binary", help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, default=1 << 30, help="bytes in the file")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--ranges", type=int, default=100, help="random ranges to compare")
    parser.add_argument("--markdown", metavar="FILE", help="write the page here")
    options = parser.parse_args()
    page = os.path.abspath(options.markdown) if options.markdown else None
    with tempfile.TemporaryDirectory(dir=os.path.abspath("target")) as work:
        text = measure(options, os.path.abspath(options.binary), work)
    print(text)
    if page:
        with open(page, "w") as file:
            file.write(text)


def measure(options, binary, work):
    os.chdir(work)
    os.environ["DEADPAN_HOME"] = os.path.abspath("home")
    with open("plain", "wb") as file:
        left = options.size
        while left:
            left -= file.write(os.urandom(min(left, 1 << 20)))
    identity = subprocess.run(["age-keygen"], capture_output=True, text=True, check=True).stdout
    with open("key", "w") as file:
        file.write(identity)
    recipient = re.search("public key: (.*)", identity)[1]
    ours = {
        "seal": [binary, "seal", "--format", "age", "-r", recipient, "-o", "ours", "plain"],
        "open": [binary, "open", "-i", "key", "-o", "back", "ours"],
    }
    theirs = {
        "seal": ["age", "-r", recipient, "-o", "theirs", "plain"],
        "open": ["age", "-d", "-i", "key", "-o", "back", "theirs"],
    }
    version = subprocess.run(["age", "--version"], capture_output=True, text=True).stdout.strip()
    lines = [INTRODUCTION, f"{options.size >> 20} MiB, {options.rounds} rounds, {processor()}, age {version}.\n"]
    lines += ["| Cores | | Deadpan | `age` | Times as fast | Memory of Deadpan |", "|---|---|---|---|---|---|"]
    for cores in sorted({1, min(2, os.cpu_count())}):
        pin = ["taskset", "-c", "0" if cores == 1 else f"0-{cores - 1}"]
        pairs = {"seal": [], "open": []}
        for _ in range(options.rounds):
            for what in ["seal", "open"]:
                one = run(pin + ours[what], "ours" if what == "seal" else "back")
                two = run(pin + theirs[what], "theirs" if what == "seal" else "back")
                pairs[what].append((one, two))
        for what, times in pairs.items():
            one, two = (statistics.median(pair[side] for pair in times) for side in (0, 1))
            factor = statistics.median(pair[1] / pair[0] for pair in times)
            memory = peak(pin + ours[what], "ours" if what == "seal" else "back")
            rate = options.size / 1e9
            lines.append(
                f"| {cores} | {what} | {one:.2f} s, {rate / one:.2f} GB/s | {two:.2f} s, {rate / two:.2f} GB/s "
                f"| {factor:.2f} | {memory:.1f} MiB |"
            )
    subprocess.run(["cmp", "plain", "back"], check=True)
    lines.append(f"\n{ranges(options, binary)} random ranges of the sealed file were those of the source.")
    return "\n".join(lines) + "\n"


def run(command, output):
    if os.path.exists(output):
        os.remove(output)
    os.sync()
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def peak(command, output):
    if os.path.exists(output):
        os.remove(output)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    usage = os.wait4(process.pid, 0)[2]
    return usage.ru_maxrss / 1024


def ranges(options, binary):
    with open("plain", "rb") as plain:
        for _ in range(options.ranges):
            begin = random.randrange(options.size)
            length = random.randrange(1, 300_000)
            length = min(length, options.size - begin)
            command = [binary, "open", "-i", "key", "--range", f"{begin}:{length}", "-o", "-", "ours"]
            found = subprocess.run(command, check=True, capture_output=True).stdout
            plain.seek(begin)
            if found != plain.read(length):
                sys.exit(f"the range {begin}:{length} is wrong")
    return options.ranges


def processor():
    with open("/proc/cpuinfo") as info:
        return re.search("model name\\s*: (.*)", info.read())[1]


main()
