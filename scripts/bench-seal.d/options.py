"""The options of the command line."""

import argparse
import re
from dataclasses import dataclass

from choices import length, some_of
from contestants import PEERS

SECTIONS = ["files", "pipes", "passphrase", "range", "process"]


@dataclass(frozen=True)
class Size:
    bytes: int
    name: str

    @property
    def rounds(self):
        """Returns the rounds. Small files need more, since their differences are smaller than the noise of one run."""
        steps = [(2 << 20, 150), (64 << 20, 40), (2 << 30, 11)]
        return next((rounds for most, rounds in steps if self.bytes <= most), 5)

    @property
    def small(self):
        """Returns whether starting the process takes most of the time."""
        return self.bytes <= 2 << 20


def size(text):
    number = length(text)
    match = re.match(r"([\d.]+)([KMG]?)(I?B)?", text.upper())
    unit = "B" if not match[2] else f"{match[2]}B" if match[3] == "B" else f"{match[2]}iB"
    return Size(number, f"{match[1]} {unit}")


def sizes(text):
    return [size(part) for part in text.split(",")]


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/bench-seal", description="The command line beside cp and its peers, in one run."
    )
    add = parser.add_argument
    add(
        "--dir",
        metavar="DIR",
        help="the folder to work in (default: target/bench-seal); what is made there is removed at the end",
    )
    add(
        "--quick",
        action="store_true",
        help="everything small, in under two minutes: shows that the script works, not how fast we are",
    )
    add(
        "--sizes", type=sizes, metavar="LIST", help="sizes of files (default: 1K,1M,10M,1G,6.7GB; quick: 1K,1M,10M,64M)"
    )
    add(
        "--rounds",
        type=int,
        metavar="N",
        help="rounds of each size (default: 150 up to 1 MiB, 40 for 10 MiB, 11 for 1 GiB, 5 above)",
    )
    add(
        "--peers",
        type=some_of(PEERS),
        default=PEERS,
        metavar="LIST",
        help=f"who takes part (default: {','.join(PEERS)})",
    )
    add("--only", type=some_of(SECTIONS), metavar="LIST", help=f"parts of it (default: {','.join(SECTIONS)})")
    add("--binary", metavar="PATH", help="the deadpan to measure (default: built with the dist profile)")
    add(
        "--markdown",
        metavar="FILE",
        help="where the page goes (default: docs/results/seal.md of a whole run, otherwise nowhere)",
    )
    add("--raw", metavar="FILE", help="where every single time goes, as JSON")
    options = parser.parse_args(arguments)
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds needs at least 1")
    whole = not (options.quick or options.sizes or options.only or options.peers != PEERS)
    if whole and not options.markdown:
        options.markdown = "docs/results/seal.md"
    options.only = options.only or [part for part in SECTIONS if not (options.quick and part == "process")]
    options.sizes = options.sizes or sizes("1K,1M,10M,64M" if options.quick else "1K,1M,10M,1G,6.7GB")
    # The size of the file for pipes, passphrases and ranges.
    options.large = size("64M" if options.quick else "1G")
    return options


def rounds(options, of):
    """Returns how often a size is measured."""
    if options.rounds:
        return options.rounds
    return min(of.rounds, 8 if of.small else 3) if options.quick else of.rounds


def disk(options):
    """Bytes that a run needs at most at one time: the file, sealed, and opened again, with 2 % for headers and tags."""
    needs = [3 * of.bytes for of in options.sizes if "files" in options.only]
    if any(part in options.only for part in ("passphrase", "range")):
        needs.append(3 * options.large.bytes)
    if "pipes" in options.only:
        # The sealed file of each contestant is kept for the rounds.
        needs.append(10 * options.large.bytes)
    if "process" in options.only:
        needs.append(10**10)
    return round(max(needs) * 1.02) + (64 << 20)
