"""How many requests a job sends, counted from the code: crates/fleet/src/{run,long,place,job}.rs and crates/remote/src.

`--check` compares the constants here with those in the code.
"""

import collections
import math
from dataclasses import dataclass

SEGMENT = 256 << 10
OVERHEAD = 32
DATA = SEGMENT - OVERHEAD
# The first request for an object asks for so much.
FIRST = 320 << 10
# From this length on an object is made in parts.
LONG = 64 << 20
# Segments in a part, and the most parts of an upload.
EACH = 64
PARTS = 9_990
# Entries of a listing.
PAGE = 1_000
THREADS = 32
# Seconds for which a list of parts counts.
FRESH = 5
MEMORY = 176 << 20
BESIDE = 48 << 20
# Parts of an upload that is not divided, and pieces of an object that is read in order.
UPLOAD_PART = 8 << 20
PIECE = 8 << 20
AHEAD = 6

KINDS = ["LIST", "GET", "HEAD", "PUT", "CREATE", "PART", "LISTPARTS", "COMPLETE", "DELETE", "ABORT"]


@dataclass(frozen=True)
class Sort:
    """So many objects of one length."""

    count: int
    length: int

    def is_long(self):
        return self.length >= LONG


def divided(total, each):
    """The quotient, rounded up. Integers, because 10^15 bytes have no room in a float's 53 bits times 9990."""
    return -(-total // each)


def part_length(length):
    """Bytes in a part of a long object in S3."""
    return max(EACH, divided(length // PARTS, SEGMENT) + 1) * SEGMENT


def part_count(length):
    """The header takes the place of one segment."""
    segments = max(1, divided(length, DATA))
    return divided(segments + 1, part_length(length) // SEGMENT)


def upload_part(length):
    """Bytes in a part of a long object that goes in one piece: Google Cloud Storage and Azure."""
    return max(UPLOAD_PART, divided(length + length // 4, PARTS))


def gets(length):
    """Requests that read a short object. The second one reads all of it, because the first brought only a beginning."""
    return 1 if length <= FIRST else 2


def read_twice(length):
    """Bytes of a short object that are read a second time."""
    return 0 if length <= FIRST else FIRST


def sharing(sort, shares):
    """How many shares have a part of an object."""
    return min(shares, part_count(sort.length))


def listings(objects, commands):
    """Requests that list sources, and compare them with results: each command reads pages of both, in turns."""
    pages = commands * divided(max(1, divided(objects, commands)), PAGE)
    return 2 * pages


def first_run(sorts, layout, seconds_on_one=0.0, in_parts=True):
    """Returns the requests of a run that makes everything.

    seconds_on_one maps a sort to the seconds that a share spends on one long object: the list of its parts is read
    every FRESH seconds. A share that begins an object while another begins it sends 4 requests more, which are not
    counted.
    """
    seconds = seconds_on_one if callable(seconds_on_one) else lambda _sort: seconds_on_one
    total = collections.Counter()
    objects = sum(sort.count for sort in sorts)
    total["LIST"] += layout.listings(objects)
    # How the job is done is read by each process, and written by the first one of each command.
    total["GET"] += layout.processes()
    total["PUT"] += layout.commands
    for sort in sorts:
        if not sort.is_long():
            _short(total, sort)
        elif in_parts:
            _divided(total, sort, layout.shares, seconds(sort))
        else:
            _in_one_piece(total, sort, layout.shares)
    return total


def second_run(sorts, layout):
    """Returns the requests of a run that finds everything there."""
    objects = sum(sort.count for sort in sorts)
    return collections.Counter({"LIST": layout.listings(objects), "GET": layout.processes()})


def _short(total, sort):
    total["GET"] += sort.count * gets(sort.length)
    total["PUT"] += sort.count
    if sort.length == 0:
        # An empty object has no first byte to ask for.
        total["HEAD"] += sort.count


def _divided(total, sort, shares, seconds):
    parts, working = part_count(sort.length), sharing(sort, shares)
    pages = divided(parts, PAGE)
    # Each share opens the source, reads the manifest, and at its end lists the parts.
    total["GET"] += sort.count * (2 * shares + parts)
    total["PART"] += sort.count * parts
    total["PUT"] += sort.count
    total["LIST"] += sort.count
    refreshed = math.floor(seconds / FRESH) * (pages + 1) / 2
    total["LISTPARTS"] += round(sort.count * (shares * pages + working * (1 + refreshed)))
    for kind in ["CREATE", "COMPLETE", "DELETE"]:
        total[kind] += sort.count


def _in_one_piece(total, sort, shares):
    # Each share opens the source; one makes the result.
    total["GET"] += sort.count * (shares + divided(sort.length - FIRST, PIECE))
    total["HEAD"] += sort.count
    sealed = sort.length + divided(sort.length, DATA) * OVERHEAD + 4096
    total["PART"] += sort.count * divided(sealed, upload_part(sort.length))
    for kind in ["CREATE", "COMPLETE"]:
        total[kind] += sort.count


@dataclass(frozen=True)
class Layout:
    """How the work is spread: all machines share one command, or each works through commands of its own."""

    machines: int
    split: int = 0

    @property
    def shares(self):
        return 1 if self.split else self.machines

    @property
    def commands(self):
        return self.split or 1

    def processes(self):
        return self.commands * self.shares

    def listings(self, objects):
        """Each share of a command lists all of it."""
        return self.shares * listings(objects, self.commands)
