"""The measurements, in rounds of all contestants. Each contestant's opened folder is compared once with the source."""

import os

import folders
from child import Failed
from contestants import FOLDER

NULL = "/dev/null"
LARGE, KEPT = "large", "kept.dpn"
# How often one file is taken out of the large folder.
TIMES = 20


def there_and_back(bench, section, folder, contestants, count, lists=False):
    """Measures how each contestant seals the folder, lists the file if `lists` is set, and opens it to a folder."""
    source, into, listing = bench.path(FOLDER), bench.path("into"), bench.path("listing")
    bench.say(f"{section}: making the folder")
    folder.make(source, bench)
    entries = folders.entries(source)

    def turn(contestant, run, output):
        file = bench.path(f"sealed{contestant.ending}")
        places = {
            "parent": bench.path("."),
            "name": FOLDER,
            "file": file,
            "into": into,
            "new": os.path.join(into, FOLDER),
        }
        for operation, way in contestant.ways.items():
            listed = operation not in ("pack", "unpack")
            if listed and not lists:
                continue
            if operation == "pack":
                bench.warm(source)
            elif operation == "unpack":
                os.mkdir(into)
            os.sync()
            run(
                (section, contestant.name, operation),
                way.fill(places),
                output if listed else NULL,
                contestant,
                way.measured,
            )
            if listed and output != NULL:
                _count(listing, entries, way.shown)
        return file

    for contestant in contestants:
        bench.say(f"{section}: checking {contestant.name}")
        file = turn(contestant, bench.checked, listing)
        bench.same(source, os.path.join(into, FOLDER), contestant.name)
        bench.rest(file, into, listing)

    def timed(contestant):
        # The processor time of a pipeline is that of all stages, since tar's work is a part of it.
        run = lambda key, stages, output, contestant, _: bench.timed(key, stages, output, contestant, None)
        bench.rest(turn(contestant, run, NULL), into)

    bench.rounds([lambda contestant=contestant: timed(contestant) for contestant in contestants], count, section)
    bench.rest(source)


def make_large(bench, folder, sealed):
    """The large folder, and the sealed file that is opened."""
    bench.say("large: making the folder")
    folder.make(bench.path(LARGE), bench)
    bench.say("large: sealing the folder")
    bench.runner.run(_seal(bench, sealed, bench.path(KEPT)), sealed.environment)
    os.sync()


def large(bench, sealed, count):
    """Runs `cp -r`, seals the folder, and opens the sealed file. The disk holds the folder three times at most.

    That is more than the page cache may hold: what is not read in a turn is taken out of it first.
    """
    source, kept, output = bench.path(LARGE), bench.path(KEPT), bench.path("output")
    kinds = {
        "cp -r": (source, kept, ["cp", "-r", source, output]),
        "deadpan seal": (source, kept, _seal(bench, sealed, output)),
        "deadpan open": (kept, source, sealed.unpack.fill({"file": kept, "new": output})[0]),
    }

    def turn(name, run):
        read, other, command = kinds[name]
        bench.rest(output)
        bench.cool(other)
        bench.warm(read)
        run(("large", name), [command], NULL, sealed)

    for name in kinds:
        bench.say(f"large: checking {name}")
        turn(name, bench.checked)
        if name == "deadpan seal":
            # This file is opened next, and in every round.
            os.replace(output, kept)
        else:
            bench.same(source, output, name)
    bench.rounds([lambda name=name: turn(name, bench.timed) for name in kinds], count, "large")
    bench.rest(output)


def one(bench, sealed):
    """Takes a small file out of the sealed large folder, to standard output and into a folder."""
    small, output = os.path.join(bench.path(LARGE), folders.Large.SMALL), bench.path("output")
    binary, path = sealed.pack.stages[0][0], f"{LARGE}/{folders.Large.SMALL}"
    only = lambda target: [binary, "open", "-o", target, "--only", path, bench.path(KEPT)]
    kinds = {
        "-o -": (only("-"), output, output),
        "-o DIR": (only(output), NULL, os.path.join(output, folders.Large.SMALL)),
    }

    def turn(name, run):
        command, stdout, result = kinds[name]
        bench.rest(output)
        run(("one", name), [command], stdout, sealed)
        bench.same(small, result, f"deadpan open {name} --only")

    for name in kinds:
        turn(name, bench.checked)
    bench.rounds([lambda name=name: turn(name, bench.timed) for name in kinds], TIMES, "one")
    bench.rest(output)


def remove_large(bench):
    bench.rest(bench.path(LARGE), bench.path(KEPT))


def _seal(bench, sealed, output):
    return sealed.pack.fill({"parent": bench.path("."), "name": LARGE, "file": output})[0]


def _count(listing, entries, who):
    """Checks that a list has one line for each entry."""
    with open(listing, "rb") as lines:
        listed = sum(1 for _ in lines)
    if listed != entries:
        raise Failed(f"`{who}` lists {listed} entries of {entries}")
