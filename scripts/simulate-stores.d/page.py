"""The tables."""

import textwrap
from dataclasses import dataclass

import failures
import requests
import speed
from requests import KINDS, Sort

LARGE = [
    ("1 PB in objects of 1 GiB", [Sort(10**15 >> 30, 1 << 30)]),
    ("1 PB in objects of 1 TiB", [Sort(round(10**15 / (1 << 40)), 1 << 40)]),
    ("10^9 objects of 1 MB", [Sort(10**9, 10**6)]),
    ("10^9 objects of 10 KB", [Sort(10**9, 10**4)]),
]


@dataclass
class Table:
    title: str
    header: list
    rows: list
    about: str = ""

    def text(self):
        rows = [self.header, *self.rows]
        widths = [max(len(row[column]) for row in rows) for column in range(len(self.header))]
        aligned = lambda row: "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        )
        about = textwrap.fill(self.about, 120)
        return "\n".join([self.title, *("  " + aligned(row).rstrip() for row in rows), about]).rstrip() + "\n"

    def markdown(self):
        line = lambda row: "| " + " | ".join(row) + " |"
        rule = "|---|" + "--:|" * (len(self.header) - 1)
        lines = [f"**{self.title}**", "", line(self.header), rule, *map(line, self.rows)]
        lines += ["", textwrap.fill(self.about, 120)]
        return "\n".join(lines).rstrip() + "\n"


@dataclass
class Job:
    name: str
    sorts: list
    layout: object
    machine: object
    store: object
    # Shares that begin each long object at once.
    together: int = 1

    def __post_init__(self):
        self.paces = {sort: speed.pace(sort, self.machine, self.store, self.layout.shares) for sort in self.sorts}
        in_parts, memory = self.store.in_parts, self.machine.memory
        self.first = requests.first_run(self.sorts, self.layout, self.on_one, in_parts, self.together, memory)
        self.second = requests.second_run(self.sorts, self.layout)
        self.course = self.go()

    def on_one(self, sort):
        """Seconds that a share spends on one object: on its parts one after another, or on all of it."""
        pace = self.paces[sort]
        return pace.each / self.layout.shares / pace.items if pace.each > 1 else pace.seconds

    def go(self, probability=0.0, restart=60.0, seed=1):
        return failures.Flow(self.sorts, self.layout, self.machine, self.store, probability, restart, seed).run()

    def bytes(self):
        return sum(sort.count * sort.length for sort in self.sorts)

    def memory(self):
        return max(pace.memory for pace in self.paces.values())

    def limit(self):
        return self.course.limits.most_common(1)[0][0]

    def items(self):
        return sum(sort.count * self.paces[sort].each for sort in self.sorts)

    def second_seconds(self):
        """Nothing but listings, of all commands of a machine after each other."""
        return self.second["LIST"] / self.layout.machines * self.store.latency


def several(value):
    """A number with at most three digits that count."""
    for size, name in [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")]:
        if value >= size:
            return f"{value / size:.3g}{name}"
    return f"{value:.3g}"


def hours(seconds):
    value = seconds / 3600
    if value < 0.005:
        return "0"
    return f"{value:.2g}" if value < 1 else f"{value:.3g}" if value < 99.5 else f"{value:.0f}"


def dollars(value):
    return f"{value:,.0f}" if value >= 10 else f"{value:.2f}"


def bytes_(value):
    for size, name in [(1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")]:
        if value >= size:
            return f"{value / size:.3g} {name}"
    return f"{value:.0f} B"


def counts(jobs, title, is_explained=True):
    kinds = [kind for kind in KINDS if any(job.first[kind] for job in jobs)]
    rows = [[job.name, *(several(job.first[kind]) for kind in kinds)] for job in jobs]
    about = (
        "LIST also counts the comparison with what is there; PUT writes a whole object, PART a part of one. CREATE, "
        "COMPLETE and ABORT begin and end an upload, and DELETE removes its state; LISTPARTS asks which parts are "
        "there. ABORT and DELETE cost nothing."
    )
    return Table(title, ["", *kinds], rows, about if is_explained else "")


def money(jobs, title, prices, machine_price, about=""):
    header = ["", *(f"{one.name}, $" for one in prices), "hours", "what limits", "GB/s", "MiB of a machine"]
    if machine_price:
        header.append("machines, $")
    header += ["again: $", "again: hours"]
    rows = []
    for job in jobs:
        course = job.course
        row = [job.name, *(dollars(one.of(job.first)) for one in prices), hours(course.seconds), job.limit()]
        row += [f"{job.bytes() / course.seconds / 1e9:.3g}", f"{job.memory() / (1 << 20):.0f}"]
        if machine_price:
            row.append(dollars(course.machine_seconds / 3600 * machine_price))
        rows.append([*row, dollars(prices[0].of(job.second)), hours(job.second_seconds())])
    return Table(title, header, rows, about)


def deaths(jobs, title, probability, restart, seed, about=""):
    header = ["", "workers die", "parts or objects done again", "bytes again", "of the job", "requests again"]
    header += ["worker hours of listing again", "hours", "without deaths"]
    rows = []
    for job in jobs:
        course = job.go(probability, restart, seed)
        again = course.items_again / job.items()
        rows.append(
            [
                job.name,
                str(course.deaths),
                several(course.items_again),
                bytes_(course.bytes_again),
                f"{100 * again:.2g} %",
                several(sum(course.requests_again.values())),
                hours(course.listing_seconds),
                hours(course.seconds) if course.ends else "does not end",
                hours(job.course.seconds),
            ]
        )
    return Table(title, header, rows, about)
