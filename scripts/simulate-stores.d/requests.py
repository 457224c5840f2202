"""How many requests a job sends, counted from the code: crates/fleet/src/{run,long,place,job}.rs and crates/remote/src.

`--check` compares the constants here with those in the code.
"""

import collections
import math
from dataclasses import dataclass

SEGMENT = 256 << 10
OVERHEAD = 32
DATA = SEGMENT - OVERHEAD
# The first request for a long object asks for so much. That for a short one asks for all of it.
FIRST = 320 << 10
# From this length on an object is made in parts, if there is memory for three such objects.
LONG = 64 << 20
# Segments in a part, and the most parts of an upload.
EACH = 64
PARTS = 9_990
# Entries of a listing.
PAGE = 1_000
THREADS = 32
# Seconds for which a list of parts counts, for each page of a thousand parts.
FRESH = 5
# Sources whose results are there are compared with a listing if a page has more of them, and asked for one by one if it
# has not.
FEW = 12
MEMORY = 176 << 20
BESIDE = 48 << 20
# Parts of an upload that is not divided, and pieces of an object that is read in order.
UPLOAD_PART = 8 << 20
PIECE = 8 << 20
AHEAD = 6
# Threads that encrypt, decrypt and move what the others send and receive.
CARRIERS = 2

KINDS = ["LIST", "GET", "HEAD", "PUT", "CREATE", "PART", "LISTPARTS", "COMPLETE", "DELETE", "ABORT"]


@dataclass(frozen=True)
class Sort:
    """So many objects of one length."""

    count: int
    length: int


def long_from(memory):
    """From which length on an object is made in parts, if a process may use so much memory."""
    return min(LONG, (memory - BESIDE) // 3)


def quotient(total, each):
    """The quotient, rounded up. Integers, because 10^15 bytes have no room in a float's 53 bits times 9990."""
    return -(-total // each)


def part_length(length):
    """Bytes in a part of a long object in S3."""
    return max(EACH, quotient(length // PARTS, SEGMENT) + 1) * SEGMENT


def part_count(length):
    """The header takes the place of one segment."""
    segments = max(1, quotient(length, DATA))
    return quotient(segments + 1, part_length(length) // SEGMENT)


def upload_part(length):
    """Bytes in a part of a long object that goes in one piece: Google Cloud Storage and Azure."""
    return max(UPLOAD_PART, quotient(length + length // 4, PARTS))


def beginning(sort, shares):
    """How many shares begin a long object or join in: those that may have a part, as far as its length tells."""
    return min(shares, sort.length // (EACH * SEGMENT) + 2)


def working(sort, shares):
    """How many shares have a part of an object."""
    return min(shares, part_count(sort.length))


def fresh(parts):
    """Seconds after which a share asks again which parts are there."""
    return FRESH * (1 + parts // PAGE)


def listings(objects, commands):
    """Requests that list sources, and compare them with results: each command reads pages of both, in turns."""
    pages = commands * quotient(max(1, quotient(objects, commands)), PAGE)
    return 2 * pages


def first_run(sorts, layout, seconds=lambda _sort: 0.0, in_parts=True, together=1, memory=MEMORY + BESIDE):
    """Returns the requests of a run that makes everything.

    `seconds` maps a sort to the time that a share spends on one object. `together` is the number of shares that begin
    each long object at the same moment.
    """
    total = second_run(sorts, layout)
    # How the job is done is written by the first process of each command.
    total["PUT"] += layout.commands
    for sort in sorts:
        if sort.length < long_from(memory):
            one = short(sort)
        elif in_parts:
            one = divided(sort, layout.shares, seconds(sort), together)
        else:
            one = in_one_piece(sort, layout.shares)
        for kind, number in one.items():
            total[kind] += round(sort.count * number)
    whole = sum(sort.count for sort in sorts if sort.length < long_from(memory) or not in_parts)
    total += looks(whole, sum(sort.count for sort in sorts), layout)
    return total


def second_run(sorts, layout):
    """Returns the requests of a run that finds everything there."""
    objects = sum(sort.count for sort in sorts)
    # Each process reads how the job is done. At the end, the first share lists what is left of the job's state.
    return collections.Counter({"LIST": layout.listings(objects) + layout.commands, "GET": layout.processes()})


def looks(whole, objects, layout):
    """Returns the requests that find out whether sources were replaced before their results were there.

    A source that is made in parts asks for itself.
    """
    page = min(PAGE, quotient(objects, layout.commands)) / layout.shares
    if whole == 0 or page <= FEW:
        return collections.Counter(HEAD=whole)
    return collections.Counter(LIST=layout.listings(objects) // 2)


def short(sort):
    """Returns the requests for one object that is read and written with one request each."""
    # An empty object has no first byte to ask for.
    return collections.Counter(GET=1, HEAD=int(sort.length == 0), PUT=1)


def divided(sort, shares, seconds=0.0, together=1):
    """Returns the requests for one object that is made in parts."""
    parts, begin = part_count(sort.length), beginning(sort, shares)
    pages, losers = quotient(parts, PAGE), min(together, begin) - 1
    one = collections.Counter(PART=parts)
    # Each share opens the source, reads the manifest, and at its end looks whether another has completed the object.
    # The one that began has looked for the object twice. The one that completes asks whether the source is the same, in
    # place of looking, and reads the manifest before it removes it.
    one["GET"] = parts + 3 * begin + 2
    one["HEAD"] = 1
    # Uploads of other versions.
    one["LIST"] = begin
    # A share that joins in asks which parts are there, one that has parts asks again after a while, and each asks at
    # its end.
    again = math.floor(seconds / fresh(parts)) * (pages + 1) / 2
    one["LISTPARTS"] = begin - 1 + working(sort, shares) * again + begin * pages
    # After its end, the upload is ended again: some stores keep a part that came at the same moment.
    for kind in ["CREATE", "PUT", "COMPLETE", "ABORT", "DELETE"]:
        one[kind] = 1
    # A share whose manifest comes too late has looked for the object and begun an upload. It reads the other manifest,
    # ends its own upload, and begins again.
    one["GET"] += 3 * losers
    for kind in ["CREATE", "PUT", "ABORT"]:
        one[kind] += losers
    return one


def in_one_piece(sort, shares):
    """Returns the requests for one long object that is not divided."""
    sealed = sort.length + quotient(sort.length, DATA) * OVERHEAD + 4096
    # Each share that may have a part, by the length of the source, opens the source. One of these shares makes the
    # result.
    return collections.Counter(
        GET=beginning(sort, shares) + quotient(sort.length - FIRST, PIECE),
        HEAD=1,
        CREATE=1,
        PART=quotient(sealed, upload_part(sort.length)),
        COMPLETE=1,
    )


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
