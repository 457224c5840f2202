"""The frame of a benchmark: its working folder, which is always removed, the machine, and the page."""

import json
import os
import shutil
import signal
import sys
import tempfile

import machine
import peers
from child import Failed, Runner


def enter(name, options, need, inodes, hint, run):
    """Checks the free space, and calls `run(work, gpg_home, runner)`."""
    # Signals become exceptions, so that the `finally` below removes the files.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    folder = os.path.abspath(options.dir or os.path.join(os.environ["BENCH_TARGET"], name))
    os.makedirs(folder, exist_ok=True)
    check_room(folder, need, inodes, hint)
    work, gpg_home = tempfile.mkdtemp(prefix="run-", dir=folder), peers.new_gpg_home()
    runner = Runner(work)
    try:
        runner.check_peak()
        run(work, gpg_home, runner)
    except (Failed, peers.Unfit) as failure:
        sys.exit(f"error: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        runner.stop()
        peers.remove_gpg_home(gpg_home)
        shutil.rmtree(work, ignore_errors=True)


def check_room(folder, need, inodes, hint):
    free = machine.available(folder)
    print(f"disk: {need / 1e9:.1f} GB needed at most at one time, {free / 1e9:.1f} GB free")
    if need > free:
        sys.exit(f"error: not enough room on the disk\nhint: give another folder with --dir, or {hint}")
    if inodes > machine.inodes(folder):
        sys.exit(
            f"error: {inodes} files are needed, and the file system cannot hold as many\n"
            f"hint: give another folder with --dir, or {hint}"
        )


def about(work, versions, missing):
    """Describes the machine and lists the missing programs, for the terminal and the page."""
    skipped = dict(line.split("\t") for line in os.environ.get("BENCH_SKIPPED", "").splitlines())
    notes = [f"skipped: {name}: {skipped.get(name, why)}" for name, why in missing.items()]
    lines = [*machine.describe(work), ("deadpan", os.environ["BENCH_BUILD"]), *versions.items()]
    print(*(f"{name}: {value}" for name, value in lines), *notes, sep="\n")
    load = machine.load()
    if load > 0.5:
        print(f"warning: other programs are running (load {load:.1f}): the times will be too long")
    lines.insert(5, ("load", f"{load:.2f} at the start"))
    return lines, notes


def ended(lines):
    """Adds the line about the load, after the last round."""
    return [(name, f"{value}, {machine.load():.2f} at the end" if name == "load" else value) for name, value in lines]


def write(path, introduction, lines, notes, remarks, parts):
    text = [introduction, *(f"- {name}: {value}" for name, value in lines), *(f"- {note}" for note in notes), ""]
    text += [*(f"- {remark}" for remark in remarks), "", *parts] if remarks else parts
    with open(path, "w") as file:
        file.write("\n".join(text).rstrip() + "\n")
    print(f"\nwritten: {os.path.relpath(path)}")


def write_raw(path, results):
    with open(path, "w") as file:
        json.dump(results.raw(), file, indent=1)


def progress(text):
    """Shows one line of progress, on terminals only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
