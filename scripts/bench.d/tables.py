"""Writes tables on the terminal and in a page."""

from dataclasses import dataclass


@dataclass
class Table:
    title: str
    header: list
    rows: list
    # Text above the table that explains how to read it.
    about: str = ""

    def markdown(self):
        # The first columns are words, the others are numbers.
        words = 2
        rule = ["---" if at < words else "--:" for at in range(len(self.header))]
        lines = [f"## {self.title}", "", *([self.about, ""] if self.about else [])]
        return (
            "\n".join(lines + ["| " + " | ".join(row) + " |" for row in [self.header, rule, *map(_escaped, self.rows)]])
            + "\n"
        )

    def text(self):
        rows = [[cell.replace("**", "") for cell in row] for row in [self.header, *self.rows]]
        widths = [max(len(row[at]) for row in rows) for at in range(len(self.header))]
        pad = lambda at, cell: cell.ljust(widths[at]) if at < 2 else cell.rjust(widths[at])
        lines = ["  ".join(pad(at, cell) for at, cell in enumerate(row)).rstrip() for row in rows]
        return "\n".join([f"\n{self.title}", *([self.about] if self.about else []), *lines])


def verdicts(all_of):
    rows = [[one.what, one.word, one.wanted, one.measured] for one in all_of]
    met = sum(one.met for one in all_of)
    return Table("Wanted and measured", ["", "", "wanted", "measured"], rows, f"{met} of {len(all_of)} met.")


def verdict(list_of):
    return [", ".join(one.wanted for one in list_of), ", ".join(one.word for one in list_of)]


def timed(results, key):
    return [seconds(results.median(key)), seconds(results.least(key))]


def seconds(value):
    return f"{value * 1e3:.2f} ms" if value < 0.1 else f"{value:.3f} s"


def rate(size, value):
    return f"{size / value / 1e9:.2f}" if size else ""


def memory(peak):
    return "" if peak is None else f"{peak / 1024:.1f}"


def size(amount):
    """Formats a size: 1 GiB, 64 MiB, 4 KiB."""
    for unit, name in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]:
        if amount >= unit:
            return f"{amount / unit:.4g} {name}"
    return f"{amount} B"


def number(amount):
    return f"{amount:,.0f}".replace(",", " ")


def _escaped(row):
    return [cell.replace("|", "\\|") for cell in row]
