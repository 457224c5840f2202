"""The bindings beside Rust, and beside other packages of their languages."""

import argparse
import os
import statistics
import sys

import frame
import tables
from figures import least, most
from tables import Table
from workers import Worker

INTRODUCTION = """\
# The languages beside each other

Made by `scripts/bench-languages`; every figure comes from one run of it.

A worker in each language runs named operations on request and says how long they took. In each round every operation
runs once, in turns with the same operation in Rust: so a machine that is slower for a while slows all of them. Times
are the least of all rounds. Operations on 1 GiB run once before they are measured. All seal to the same kind of key,
X-Wing (hybrid), and open with it. *seal* and *open* use an output that was used before; *new* returns a new object,
whose memory the system has to clear. Files lie in the system's folder for temporary files; the command line is measured
with the start of its process.

What stays slower than Rust, and why:

- Python's buffers (`seal_into`, `open_into`): other threads and processes may write to them meanwhile, and whoever
  changed sealed data between their check and their decryption would get forged data past it. So they are copied piece
  by piece, in and out. `bytes` cannot change and are not copied in.
- Java's arrays over 4 MiB are copied too, because the collector would otherwise wait for the whole call; buffers and
  segments outside of the heap are not. A new array is cleared by Java itself, on one thread and in small pages, which
  takes longer than sealing.
- New objects of all languages depend on huge pages: where the system has none free, clearing takes three times as long.
"""

SIZES = [(1 << 10, 1000), (1 << 20, 50), (1 << 30, 1)]
LARGE = 1 << 28
WAYS = ["seal", "open"]
BOUND = {"c": 3e-6, "go": 3e-6, "java": 3e-6, "python": 5e-6}
# Peers and the pure ways of each language: the names of their operations, and what they do.
# "array" is Java's call on arrays, which it has to copy if they are long.
PEERS = {
    "aesgcm": "cryptography, AES-256-GCM with a shared key",
    "fernet": "cryptography, Fernet with a shared key",
    "pyrage": "pyrage, age in Rust, X25519",
    "pynacl": "PyNaCl, sealed box, X25519",
    "age": "filippo.io/age, X25519",
    "std": "the standard library of Go, hybrid",
    "bc": "Bouncy Castle, ML-KEM-768 and X25519, AES-256-GCM",
    "jca": "javax.crypto, X25519, AES-256-GCM",
}


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench-languages", description=__doc__)
    add = parser.add_argument
    add("--worker", action="append", default=[], metavar="LANGUAGE=COMMAND", help=argparse.SUPPRESS)
    add("--rounds", type=int, default=9, metavar="N", help="rounds for each size (default: 9)")
    add("--largest", type=int, default=1 << 30, metavar="BYTES", help="the largest size (default: 1 GiB)")
    add("--smallest", type=int, default=0, metavar="BYTES", help="the smallest size (default: 1 KiB)")
    add("--only", metavar="LANGUAGES", help="only these languages, with commas between them")
    add("--markdown", metavar="FILE", help="where the page goes, such as docs/results/languages.md")
    options = parser.parse_args(sys.argv[1:])
    wanted = options.only.split(",") if options.only else None
    commands = dict(given.split("=", 1) for given in options.worker)
    workers = {
        name: Worker(name, command)
        for name, command in commands.items()
        if name == "rust" or wanted is None or name in wanted
    }
    about, notes = frame.about(".", {"rounds": str(options.rounds)}, {})
    notes += [f"skipped: {line.replace(chr(9), ': ')}" for line in os.environ["BENCH_SKIPPED"].splitlines()]
    times, failures = {}, {}
    try:
        for size, repeated in SIZES:
            if options.smallest <= size <= options.largest:
                measure(workers, size, repeated, options.rounds, times, failures)
    finally:
        for worker in workers.values():
            worker.stop()
    frame.progress("")
    parts = [tables.verdicts(list(verdicts(times))), *pages(times, failures)]
    print(*(part.text() for part in parts), sep="\n")
    if options.markdown:
        frame.write(options.markdown, INTRODUCTION, frame.ended(about), notes, [], [part.markdown() for part in parts])


def measure(workers, size, repeated, rounds, times, failures):
    """Runs every operation of every worker once in each round."""
    pairs = [(worker, name) for worker in workers.values() for name in worker.names if not skipped(name, size)]
    # The operations of one kind follow each other, Rust first.
    pairs.sort(key=lambda pair: (kind(pair[1]), pair[0].language != "rust", pair[0].language))
    for turn in range(rounds):
        for at, (worker, name) in enumerate(pairs):
            key = (worker.language, name, size)
            if key in failures:
                continue
            frame.progress(f"{tables.size(size)}: round {turn + 1} of {rounds}, {worker.language} {name} ({at})")
            if size >= LARGE:
                # The first run fills caches and the disk's queue, which the second must not wait for.
                worker.seconds(name, size, 1)
                if kind(name) == "file":
                    os.sync()
            took, why = worker.seconds(name, size, repeated)
            if why:
                failures[key] = why
            else:
                times.setdefault(key, []).append(took)
            if size >= LARGE and (at + 1 == len(pairs) or pairs[at + 1][0] is not worker):
                worker.rest()


def skipped(name, size):
    if kind(name) == "base64":
        return size > 1 << 20
    if kind(name) in ("file", "command"):
        return size < 1 << 20
    # These need many seconds for 1 GiB.
    return kind(name) in ("fernet", "bc") and size > 1 << 20


def kind(name):
    """Returns what an operation has in common with others: `seal`, `new`, `file`, `base64`, or the name of a peer."""
    words = [word for word in name.split(".") if word not in WAYS]
    word = words[0] if words else "seal"
    return {"c": "seal", "command": "file", "pybase64": "base64", "std-base64": "base64"}.get(word, word)


def verdicts(times):
    best = lambda *key: min(times[key]) if key in times else None
    for way in WAYS:
        for language in ("c", "go", "java", "python"):
            place = ("rust", f"c.{way}") if language == "c" else (language, way)
            own, rust = best(*place, 1 << 10), best("rust", way, 1 << 10)
            if own and rust:
                what = f"{language}: 1 KiB, {way}: microseconds more than Rust"
                yield most(what, (own - rust) * 1e6, BOUND[language] * 1e6, "{:.2f}")
            own, rust = best(*place, 1 << 30), best("rust", way, 1 << 30)
            if own and rust:
                yield least(f"{language}: 1 GiB, {way}, used output: speed beside Rust", rust / own, 0.95, "{:.2f}")
            own, rust = best(language, f"{way}.new", 1 << 30), best("rust", f"{way}.new", 1 << 30)
            if own and rust:
                yield least(f"{language}: 1 GiB, {way}, new output: speed beside Rust", rust / own, 0.95, "{:.2f}")
            own, command = best(language, f"file.{way}", 1 << 30), best("rust", f"command.{way}", 1 << 30)
            if own and command:
                what = f"{language}: file of 1 GiB, {way}: speed beside the command line"
                yield least(what, command / own, 0.97, "{:.2f}")
    for way, word in zip(WAYS, ("encoded", "decoded")):
        for size, limit in [(1 << 10, 1.2), (1 << 20, 1.0)]:
            own, other = best("python", f"base64.{way}", size), best("python", f"pybase64.{way}", size)
            if own and other:
                what = f"python: base64 of {tables.size(size)}, {word}: speed beside pybase64"
                yield least(what, other / own, limit, "{:.2f}")


def pages(times, failures):
    for size, _ in SIZES:
        keys = [key for key in times if key[2] == size]
        if not keys:
            continue
        rows = []
        for key in sorted(keys, key=lambda key: (kind(key[1]), way_of(key[1]), key[0] != "rust", key[0])):
            language, name, _ = key
            fast, rust = min(times[key]), times.get(("rust", rust_name(name), size))
            ratio = f"{min(rust) / fast:.2f}" if rust else ""
            rows.append([language, name, micro(fast), micro(statistics.median(times[key])), rate(size, fast), ratio])
        header = ["Language", "Operation", "Least", "Median", "GiB/s", "Speed beside Rust"]
        yield Table(tables.size(size), header, rows)
    if failures:
        rows = [[language, name, tables.size(size), why] for (language, name, size), why in failures.items()]
        yield Table("What did not run", ["Language", "Operation", "Size", "Why"], rows)
    used = sorted({kind(key[1]) for key in times} & set(PEERS))
    if used:
        yield Table("Peers", ["Operation", "What it is"], [[name, PEERS[name]] for name in used])


def way_of(name):
    return next(word for word in name.split(".") if word in WAYS)


def rust_name(name):
    """Returns the operation of Rust beside which a name is shown."""
    way = way_of(name)
    return {"new": f"{way}.new", "file": f"command.{way}", "base64": f"base64.{way}"}.get(kind(name), way)


def micro(seconds):
    return f"{seconds * 1e6:.2f} µs" if seconds < 1e-3 else tables.seconds(seconds)


def rate(size, seconds):
    return f"{size / seconds / (1 << 30):.2f}"


main()
