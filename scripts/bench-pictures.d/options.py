"""The options of the command line."""

import argparse
import re

from cases import NAMES
from choices import some_of
from tables import size as shown

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size(text):
    match = re.fullmatch(r"(\d+)([KMG])", text.upper())
    if not match:
        raise argparse.ArgumentTypeError(f"no size: {text} (64M and 1G are powers of two)")
    return int(match[1]) * UNITS[match[2]]


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/bench-pictures", description="Pictures that carry data beside cp, in one run."
    )
    add = parser.add_argument
    add(
        "--dir",
        metavar="DIR",
        help="the folder to work in (default: target/bench-pictures); what is made there is removed at the end",
    )
    add("--quick", action="store_true", help="64 MiB and 2 rounds: shows that the script works, not how fast we are")
    add("--size", type=size, metavar="SIZE", help="how much data (default: 1G; quick: 64M)")
    add("--rounds", type=int, metavar="N", help="rounds (default: 7; quick: 2)")
    add("--only", type=some_of(NAMES), metavar="LIST", help=f"the cases (default: {','.join(NAMES)})")
    add("--binary", metavar="PATH", help="the deadpan to measure (default: built with the dist profile)")
    add(
        "--markdown",
        metavar="FILE",
        help="where the page goes (default: docs/results/pictures-speed.md of a whole run, otherwise nowhere)",
    )
    add("--raw", metavar="FILE", help="where every single time goes, as JSON")
    options = parser.parse_args(arguments)
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds needs at least 1")
    if not (options.quick or options.size or options.only or options.markdown):
        options.markdown = "docs/results/pictures-speed.md"
    options.only = options.only or NAMES
    options.size = options.size or (64 << 20 if options.quick else 1 << 30)
    options.rounds = options.rounds or (2 if options.quick else 7)
    options.size_name = shown(options.size)
    return options


def disk(options):
    """Bytes that a run needs most: data, pictures, revealed data, a copy, and the pictures written again, all kept."""
    kept = sum(name.startswith("again") for name in options.only)
    return round((5 + kept) * options.size * 1.1) + (64 << 20)
