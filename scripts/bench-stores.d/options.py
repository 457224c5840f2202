"""The options of the command line, and the folder that the store's objects lie in."""

import argparse
import os

import machine
from choices import length, some_of
from contestants import PEERS

SECTIONS = ["small", "seal", "range", "open", "ray"]
MEMORY = "/dev/shm"
# Memory that stays free for programs beside the objects, if these lie in memory.
SPARE = 4 << 30


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/bench-stores", description="From store to store, beside other clients, in one run."
    )
    add = parser.add_argument
    add(
        "--dir",
        metavar="DIR",
        help=f"the folder to work in (default: {MEMORY} if it has room, otherwise target/bench-stores); what is made "
        "there is removed",
    )
    add("--quick", action="store_true", help="everything small: shows that the script works, not how fast we are")
    add("--size", type=length, metavar="SIZE", help="the length of the large object (default: 4GiB; quick: 64MiB)")
    add("--objects", type=int, metavar="N", help="how many objects of 10 KB (default: 10000; quick: 200)")
    add("--shared", type=length, metavar="SIZE", help="the length of all objects for Ray (default: 6GiB; quick: 64MiB)")
    add("--rounds", type=int, metavar="N", help="rounds of each part (default: 5; quick: 2)")
    add(
        "--peers",
        type=some_of(PEERS),
        default=PEERS,
        metavar="LIST",
        help=f"who takes part (default: {','.join(PEERS)})",
    )
    add(
        "--only",
        type=some_of(SECTIONS),
        default=SECTIONS,
        metavar="LIST",
        help=f"parts (default: {','.join(SECTIONS)})",
    )
    add("--binary", metavar="PATH", help="the deadpan to measure (default: built with the dist profile)")
    add("--markdown", metavar="FILE", help="where the page goes, such as docs/results/stores.md")
    add("--raw", metavar="FILE", help="where every single time goes, as JSON")
    options = parser.parse_args(arguments)
    quick = options.quick
    defaults = {
        "size": 64 << 20 if quick else 4 << 30,
        "shared": 64 << 20 if quick else 6 << 30,
        "objects": 200 if quick else 10_000,
        "rounds": 2 if quick else 5,
    }
    options.given = [f"--{name} {value}" for name in defaults if (value := getattr(options, name)) is not None]
    for name, value in defaults.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
        if getattr(options, name) < 1:
            parser.error(f"--{name} needs at least 1")
    options.dir = options.dir or _memory(disk(options))
    return options


def command(options):
    """Returns how the script is called for the same figures."""
    words = ["scripts/bench-stores", *options.given]
    if options.quick:
        words.append("--quick")
    for name, all_of in (("only", SECTIONS), ("peers", PEERS)):
        if getattr(options, name) != all_of:
            words.append(f"--{name} {','.join(getattr(options, name))}")
    return " ".join(words)


def disk(options):
    """Returns the bytes that a run needs at most at one time.

    An upload in parts needs its length twice, because the store joins the parts to a file of their own.
    """
    large = 3 * options.size if set(options.only) & {"seal", "range", "open"} else 0
    # The objects, their copies, the copies of s5cmd on this machine, and as much for the records of the file system.
    small = 4 * options.objects * (16 << 10) if "small" in options.only else 0
    # Each share joins the parts of one object at a time.
    ray = 5 * options.shared // 2 if "ray" in options.only else 0
    return round(max(large, small, ray) * 1.02) + (64 << 20)


def _memory(need):
    """Returns the folder in memory if the objects and all programs fit into it, or None."""
    if not os.path.isdir(MEMORY) or need > machine.available(MEMORY) or need + SPARE > machine.memory():
        return None
    return MEMORY
