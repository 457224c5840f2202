"""From store to store, beside other clients; started by the shell script `scripts/bench-stores`."""

import os
import sys

import contestants
import frame
import options as asked
import page
import server
import tables
import wanted
import with_ray
from measure import BIG, SEALED, Measure
from rounds import Bench

INTRODUCTION = """\
# From store to store beside `rclone`, `s5cmd` and `boto3`

Made by `{command}`; every figure comes from one run of it.

The store is versitygw, a server of S3's protocol whose objects are files, on the same machine: requests cross the
loopback, and the server takes a part of the same cores. A real store is further away, and has cores of its own. The
benchmark times whole processes from the outside. In each round every program runs once, in random order; the objects
that it wrote are removed before the next one. *Speed ÷* is the median over the rounds of the other program's time
divided by this one's in the same round. Peak memory comes from a separate run, and is that of the last program of a
pipeline. Each result is compared once with its source, after opening it if it is sealed.
"""


def main():
    options = asked.parse(sys.argv[1:])
    hint = "less with --size and --objects"
    frame.enter("bench-stores", options, asked.disk(options), 0, hint, lambda *given: run(options, *given))


def run(options, work, _gpg_home, runner):
    with server.running(os.path.join(work, "store")) as store:
        store.make_bucket()
        binary = os.environ["BENCH_BINARY"]
        bench = Bench(work, runner, frame.progress)
        measured = Measure(bench, store, contestants.environment(binary, store, work))
        peers, versions, missing = contestants.peers(options.peers)
        python = with_ray.python() if "ray" in options.only else None
        if python:
            versions["ray"] = with_ray.version(python)
        elif "ray" in options.only:
            missing["ray"] = "not installed"
        versions = {"versitygw": f"{os.environ['BENCH_SERVER_VERSION']}, posix backend", **versions}
        about, notes = frame.about(work, versions, missing)
        parts, verdicts = sections(options, measured, contestants.deadpan(binary, work), peers, binary, python)
    frame.progress("")
    notes += [f"failed: {section}: {name}: {why}" for (section, name), why in measured.failures.items()]
    parts = [tables.verdicts(verdicts), *parts]
    print(parts[0].text())
    if options.markdown:
        introduction = INTRODUCTION.format(command=asked.command(options))
        text = [table.markdown() for table in parts]
        frame.write(options.markdown, introduction, frame.ended(about), notes, contestants.REMARKS, text)
    if options.raw:
        frame.write_raw(options.raw, bench.results)


def sections(options, measured, sealed, peers, binary, python):
    """Runs the selected parts. Each gives a table and verdicts."""
    parts, verdicts, results = [], [], measured.bench.results
    everyone, size, count = [*peers, sealed], options.size, options.rounds

    def conclude(table, found):
        # At once, because a later part may fail.
        print(table.text(), flush=True)
        parts.append(table)
        verdicts.extend(found)

    if "small" in options.only:
        measured.make_small(options.objects)
        measured.many("small", everyone, count)
        found = wanted.of_small(measured, f"{tables.number(options.objects)} objects")
        conclude(page.many(measured, options.objects, everyone, wanted.SMALL_YARDSTICK, found, count), found)
        measured.store.clear()
    if set(options.only) - {"small", "ray"}:
        measured.make_big(size)
    if "seal" in options.only:
        measured.one("seal", BIG, everyone, measured.same_big, count)
        found = wanted.of_seal(measured, tables.size(size), everyone)
        yardstick = wanted.fastest(results, "seal", everyone)
        conclude(page.one(measured, "seal", size, everyone, yardstick, found, count), found)
    if {"range", "open"} & set(options.only):
        digest, begin, excerpt = measured.seal_big(sealed)
    if "range" in options.only:
        measured.ranges(binary, peers, begin, excerpt)
        found = wanted.of_range(measured)
        conclude(page.ranges(measured, begin, found), found)
    if "open" in options.only:
        # The copies are of the sealed object, so they read as much.
        opening = contestants.opening(binary)
        copies = [one for one in peers if one.kind == contestants.PLAIN]
        check = measured.same_digest(digest)
        measured.one("open", SEALED, [*copies, opening], lambda one: check(one) if one.ours else None, count)
        found = wanted.of_open(measured, tables.size(size))
        yardstick = wanted.fastest(results, "open", copies)
        conclude(page.one(measured, "open", size, [*copies, opening], yardstick, found, count), found)
    if python:
        measured.store.clear()
        measured.make_shared(options.shared)
        shares = with_ray.contestants(python, binary, measured.environment)
        with with_ray.running(python, measured.environment) as environment:
            measured.shared(shares, environment, count)
        found = wanted.of_ray(measured, tables.size(options.shared))
        conclude(page.shares(measured, options.shared, shares, found, count), found)
    return parts, verdicts


if __name__ == "__main__":
    main()
