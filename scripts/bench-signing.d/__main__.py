"""Signed files beside unsigned ones, and detached signatures beside `openssl dgst`, in pairs."""

import argparse
import os
import re
import statistics
import subprocess
import tempfile
import time

INTRODUCTION = """\
# What signatures cost

Made by `scripts/bench-signing`. The benchmark times whole processes from the outside. In each round both commands run
once after the other. Before each run the old output is removed and dirty pages are written to the disk (`sync`); the
input is in the page cache. *Ratio* is the median over the rounds of the first time divided by the second of the same
round, and the least ratio of a round. Peak memory is that of one more run of the first command.
"""

def main():
    parser = argparse.ArgumentParser(prog="scripts/bench-signing", description=__doc__)
    parser.add_argument("binary", help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, default=1 << 30, help="bytes in the file")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--long", type=int, default=100 << 30, help="bytes of the sparse file; 0 leaves it out")
    parser.add_argument("--markdown", metavar="FILE", help="write the page here")
    options = parser.parse_args()
    page = os.path.abspath(options.markdown) if options.markdown else None
    os.makedirs("target", exist_ok=True)
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
    for kind in [[], ["--sign"]]:
        subprocess.run([binary, "keygen", "--no-passphrase", *kind], check=True, capture_output=True)
    seal = [binary, "seal", "-f", "-o"]
    for output, signed in [("unsigned.dpn", []), ("signed.dpn", ["--sign"])]:
        subprocess.run([*seal, output, *signed, "plain"], check=True, capture_output=True)
    subprocess.run([binary, "sign", "-f", "-o", "plain.sig", "plain"], check=True, capture_output=True)
    pairs = {
        "sealing, signed : unsigned": ([*seal, "one", "--sign", "plain"], [*seal, "two", "plain"]),
        "opening, signed : unsigned": (
            [binary, "open", "-f", "-o", "one", "--require-signature", "signed.dpn"],
            [binary, "open", "-f", "-o", "two", "unsigned.dpn"],
        ),
        "`sign` : `openssl dgst -sha512`": (
            [binary, "sign", "-f", "-o", "one", "plain"],
            ["openssl", "dgst", "-sha512", "-out", "two", "plain"],
        ),
        "`verify` : `openssl dgst -sha512`": (
            [binary, "verify", "-s", "plain.sig", "plain"],
            ["openssl", "dgst", "-sha512", "-out", "two", "plain"],
        ),
    }
    lines = [INTRODUCTION, f"{options.size >> 20} MiB, {options.rounds} rounds, {processor()}.\n"]
    lines += ["| Cores | | First | Second | Ratio | Least | Memory of the first |", "|---|---|---|---|---|---|---|"]
    for cores in sorted({1, min(2, os.cpu_count())}):
        pin = ["taskset", "-c", "0" if cores == 1 else f"0-{cores - 1}"]
        times = {what: [] for what in pairs}
        for _ in range(options.rounds):
            for what, (first, second) in pairs.items():
                times[what].append((run(pin + first), run(pin + second)))
        for what, rounds in times.items():
            one, two = (statistics.median(round[side] for round in rounds) for side in (0, 1))
            ratios = [first / second for first, second in rounds]
            rate = options.size / 1e9
            lines.append(
                f"| {cores} | {what} | {one:.2f} s, {rate / one:.2f} GB/s | {two:.2f} s, {rate / two:.2f} GB/s "
                f"| {statistics.median(ratios):.2f} | {min(ratios):.2f} | {peak(pin + pairs[what][0]):.1f} MiB |"
            )
    if options.long:
        lines.append(long(options, binary))
    return "\n".join(lines) + "\n"


def long(options, binary):
    """The peak memory of a very long file, which is sparse; the sealed bytes go nowhere."""
    with open("sparse", "wb") as file:
        file.truncate(options.long)
    with open("sparse", "rb") as plain:
        memory = peak([binary, "seal", "--sign", "-o", "-"], stdin=plain)
    size = f"{options.long >> 30} GiB"
    return f"\nA sparse file of {size}, signed, through a pipe into nothing: {memory:.1f} MiB at most."


def clear():
    for output in ["one", "two"]:
        if os.path.exists(output):
            os.remove(output)


def run(command):
    clear()
    os.sync()
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def peak(command, stdin=None):
    clear()
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    status, usage = os.wait4(process.pid, 0)[1:]
    assert status == 0, command
    return usage.ru_maxrss / 1024


def processor():
    with open("/proc/cpuinfo") as info:
        return re.search("model name\\s*: (.*)", info.read())[1]


main()
