"""What was asked for."""

import argparse

from choices import some_of
from contestants import PEERS
from folders import Large, Million, Mixed

SECTIONS = ["mixed", "large", "one", "million"]
MIB = 1 << 20


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/bench-folder", description="Folders beside tar, cp -r and other programs, in one run."
    )
    add = parser.add_argument
    add(
        "--dir",
        metavar="DIR",
        help="the folder to work in (default: target/bench-folder); what is made there is removed at the end",
    )
    add(
        "--quick",
        action="store_true",
        help="everything small, in under two minutes: shows that the script works, not how fast we are",
    )
    add("--only", type=some_of(SECTIONS), metavar="LIST", help=f"parts of it (default: {','.join(SECTIONS)})")
    add(
        "--rounds",
        type=int,
        metavar="N",
        help="rounds of mixed, large and million (default: 7, 5 and 3); one file out of many: always 20",
    )
    add("--scale", type=float, metavar="F", help="the size of the large folder, as a part of its 10 GiB (default: 1)")
    add("--million", type=int, metavar="N", help="how many tiny files (default: 1000000)")
    add(
        "--peers",
        type=some_of(PEERS),
        default=PEERS,
        metavar="LIST",
        help=f"who takes part (default: {','.join(PEERS)})",
    )
    add("--binary", metavar="PATH", help="the deadpan to measure (default: built with the dist profile)")
    add(
        "--markdown",
        metavar="FILE",
        help="where the page goes (default: docs/results/folder.md of a whole run, otherwise nowhere)",
    )
    add("--raw", metavar="FILE", help="where every single time goes, as JSON")
    options = parser.parse_args(arguments)
    for name, least in [("rounds", 1), ("million", 1)]:
        if getattr(options, name) is not None and getattr(options, name) < least:
            parser.error(f"--{name} needs at least {least}")
    if options.scale is not None and not 0 < options.scale <= 100:
        parser.error("--scale needs a number above 0, and 100 at most")
    whole = not (options.quick or options.only or options.scale or options.million or options.peers != PEERS)
    if whole and not options.markdown:
        options.markdown = "docs/results/folder.md"
    options.only = options.only or SECTIONS
    quick = options.quick
    options.folders = {
        "mixed": Mixed(1000, 64 * MIB) if quick else Mixed(10_000, 1024 * MIB),
        "large": Large(10, round((options.scale or (1 / 64 if quick else 1)) * 1024 * MIB)),
        "million": Million(options.million or (10_000 if quick else 1_000_000)),
    }
    return options


def command(options):
    """How the script is called for the same figures; where it works and where the page goes do not matter to them."""
    given = [(name, getattr(options, name)) for name in ("rounds", "scale", "million")]
    words = [f"--{name} {value}" for name, value in given if value]
    if options.quick:
        words.append("--quick")
    if options.only != SECTIONS:
        words.append(f"--only {','.join(options.only)}")
    if options.peers != PEERS:
        words.append(f"--peers {','.join(options.peers)}")
    return " ".join(["scripts/bench-folder", *words])


def rounds(options, section):
    return options.rounds or (2 if options.quick else {"mixed": 7, "large": 5, "million": 3}[section])


def disk(options):
    """Bytes and files that a run needs at most at one time."""
    needs = []
    for section in options.only:
        folder = options.folders["large" if section == "one" else section]
        # The folder, what it was sealed to, and what came out of that; for one file of it next to nothing comes out.
        copies = 1 if section == "one" else 2
        needs.append((copies * folder.room + folder.archived, copies * folder.files))
    return max(room for room, _ in needs) + (64 << 20), max(files for _, files in needs)
