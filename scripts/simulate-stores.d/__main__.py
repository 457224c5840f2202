"""What a job from store to store costs; started by `scripts/simulate-stores`."""

import dataclasses
import sys

import check
import options as asked
import page
import prices
from requests import Layout

GOOGLE = "Google Cloud Storage, --shard, --max-memory 8GiB; long objects go in one piece"


def main():
    options = asked.parse(sys.argv[1:])
    if options.check:
        return check.run(options)
    if options.log:
        return check.log(options, asked.layout(options), options.store != "gcs")
    tables = for_docs(options) if options.markdown and not options.sorts else one(options)
    print("\n".join(table.markdown() if options.markdown else table.text() for table in tables))
    return 0


def one(options):
    """The tables of one setting: of the objects that are given, or of four large jobs."""
    given = [(f"{sum(sort.count for sort in options.sorts):,} objects", options.sorts)] if options.sorts else page.LARGE
    layout, machine, store = asked.layout(options), asked.machine(options), asked.store(options)
    jobs = [page.Job(name, sorts, layout, machine, store, options.together) for name, sorts in given]
    about = f"Prices of {prices.DATE}; they change, and --price overrides them. Storage and traffic are not in them."
    tables = [
        page.counts(jobs, "Requests"),
        page.money(jobs, "Money and hours", [asked.prices(options)], options.machine_price, about),
    ]
    if options.fail:
        title = f"Workers that die, with a probability of {100 * options.fail:g} % for each hour"
        tables.append(page.deaths(jobs, title, options.fail, options.restart, options.seed))
    return tables


def for_docs(options):
    """The tables of docs/scale-costs.md: three settings, and workers that die."""
    machine, store, both = asked.machine(options), asked.store(options), [prices.Prices("s3"), prices.Prices("r2")]
    larger = dataclasses.replace(machine, memory=8 << 30)
    wide = dataclasses.replace(store, prefixes=1000)
    number = options.machines
    settings = [
        (f"One command, --shard I/{number}", Layout(number), machine, store),
        (f"One command, --shard I/{number}, --max-memory 8GiB", Layout(number), larger, store),
        ("1000 prefixes, a command for each, --max-memory 8GiB", Layout(number, 1000), larger, wide),
    ]
    made = [
        (name, [page.Job(what, sorts, layout, machine, store, options.together) for what, sorts in page.LARGE])
        for name, layout, machine, store in settings
    ]
    slower = dataclasses.replace(store, puts=1000.0, gets=5000.0, in_parts=False)
    google = [page.Job(what, sorts, Layout(number), larger, slower) for what, sorts in page.LARGE]
    tables = [page.counts(made[at][1], f"Requests: {made[at][0]}", at == 2) for at in (0, 2)]
    tables += [page.money(jobs, name, both, options.machine_price) for name, jobs in made]
    tables.append(page.money(google, GOOGLE, [prices.Prices("gcs")], options.machine_price))
    fail = options.fail or 0.01
    for name, jobs in made[1:]:
        title = f"{name}: workers die with a probability of {100 * fail:g} % for each hour"
        tables.append(page.deaths(jobs, title, fail, options.restart, options.seed))
    return tables


if __name__ == "__main__":
    sys.exit(main())
