"""The measurements: everything that is compared runs in one round, in random order, and rounds are repeated.

Before each timed run its output is removed and the system writes out what it still holds (`sync`). Otherwise the dirty pages of the run
before count against the next one: past a limit the system makes the writer wait, and the same `cp` writes at 5 GB/s or at 1, depending on
who ran before it. What is read is in the page cache, for all alike: the question is what sealing costs, not what the disk does.
"""

import os
import random
import statistics
import subprocess
import sys
from collections import defaultdict

from child import Failed
from contestants import YARDSTICK, fill

BLOCK = 1 << 20


class Results:
    """Times by what was measured; the lists are in the order of the rounds, so that equal places are one round."""

    def __init__(self):
        self.times = defaultdict(list)
        self.peaks = {}

    def median(self, key, what="wall"):
        return statistics.median(getattr(took, what) for took in self.times[key])

    def least(self, key):
        return min(took.wall for took in self.times[key])

    def ratio(self, key, yardstick):
        """The median of the ratios in each round: a drift of the machine between rounds cancels."""
        return statistics.median(mine.wall / its.wall for mine, its in zip(self.times[key], self.times[yardstick]))

    def difference(self, key, yardstick):
        return statistics.median(mine.wall - its.wall for mine, its in zip(self.times[key], self.times[yardstick]))

    def __contains__(self, key):
        return key in self.times


class Bench:
    def __init__(self, work, runner, say):
        self.runner, self.say, self.results = runner, say, Results()
        self.path = lambda name: os.path.join(work, name)
        # The order is random but the same in every run of the script.
        self.random = random.Random(1)

    def rounds(self, turns, count, what):
        """`turns` are functions; each runs once a round, in another order each time."""
        for number in range(count):
            self.say(f"{what}: round {number + 1} of {count}")
            for turn in self.random.sample(turns, len(turns)):
                turn()

    def rest(self, *outputs):
        for path in outputs:
            if os.path.exists(path):
                os.remove(path)
        os.sync()

    def timed(self, key, stages, output, contestant, measured=0):
        self.results.times[key].append(self.runner.pipeline(stages, output, contestant.environment, measured))

    def checked(self, key, stages, output, contestant, measured=0):
        """A run that is not timed: it shows the peak memory, and what it writes is compared with the source later on."""
        self.results.peaks[key] = self.runner.peak(stages, output, contestant.environment, measured)

    def same(self, one, other, who):
        if subprocess.run(["cmp", "--silent", one, other]).returncode != 0:
            raise Failed(f"{who}: what was opened is not what was sealed")

    def fill(self, size):
        """Data that do not repeat: disks, file systems and compressors must not find them easy."""
        path = self.path("plain")
        with open(path, "wb") as file:
            for begin in range(0, size.bytes, BLOCK):
                file.write(os.urandom(min(BLOCK, size.bytes - begin)))
        os.sync()
        return path

    def warm(self, path):
        """Reads a file, so that it is in the page cache whatever the others did to it."""
        buffer = bytearray(BLOCK)
        with open(path, "rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def files(bench, contestants, size, count):
    """From file to file: each contestant seals the file and opens what it sealed. The yardstick copies the file, and copies the copy."""
    plain, sealed, opened = bench.fill(size), bench.path("sealed"), bench.path("opened")
    contestants = [contestant for contestant in contestants if size.bytes <= contestant.most]

    def turn(contestant, run):
        for operation, command, source, target in [
            ("seal", contestant.seal, plain, sealed),
            ("open", contestant.open, sealed, opened),
        ]:
            bench.rest(target)
            if operation == "seal":
                bench.warm(plain)
            run((size, contestant.name, operation), [fill(command, source, target)], "/dev/null", contestant)

    for contestant in contestants:
        bench.say(f"{size.name}: checking {contestant.name}")
        turn(contestant, bench.checked)
        bench.same(plain, opened, contestant.name)
        bench.rest(sealed, opened)

    def timed(contestant):
        turn(contestant, bench.timed)
        bench.rest(sealed, opened)

    bench.rounds([lambda contestant=contestant: timed(contestant) for contestant in contestants], count, size.name)
    os.remove(plain)


def pipes(bench, contestants, size, count):
    """`cat FILE | … | cat > /dev/null`: what stands in the middle is compared with a `cat` there."""
    plain, sealed, opened = bench.fill(size), bench.path("sealed"), bench.path("opened")
    contestants = [contestant for contestant in contestants if contestant.seal_pipe and size.bytes <= contestant.most]

    def turn(contestant, run, seal_to, open_to):
        for operation, command, source, target in [
            ("seal", contestant.seal_pipe, plain, seal_to),
            ("open", contestant.open_pipe, sealed, open_to),
        ]:
            stages = [["cat", source], command, ["cat"]]
            run(("pipes", contestant.name, operation), stages, target, contestant, measured=1)

    for contestant in contestants:
        bench.say(f"pipes: checking {contestant.name}")
        turn(contestant, bench.checked, sealed, opened)
        bench.same(plain, opened, f"{contestant.name} through pipes")
        bench.rest(opened)
        # Kept for the rounds; sealing writes to nowhere there.
        os.rename(sealed, bench.path(f"sealed-{contestant.name}"))

    def timed(contestant):
        nonlocal sealed
        sealed = bench.path(f"sealed-{contestant.name}")
        bench.warm(sealed)
        bench.warm(plain)
        os.sync()
        turn(contestant, bench.timed, "/dev/null", "/dev/null")

    bench.rounds([lambda contestant=contestant: timed(contestant) for contestant in contestants], count, "pipes")
    for contestant in contestants:
        os.remove(bench.path(f"sealed-{contestant.name}"))
    os.remove(plain)


def passphrase(bench, binary, hybrid, size, count):
    """A passphrase takes about as long to hash as a large file to seal: does one happen while the other does?"""
    plain, tiny, sealed, opened = bench.fill(size), bench.path("tiny"), bench.path("sealed"), bench.path("opened")
    with open(tiny, "wb") as file:
        file.write(b"x")
    secret = bench.path("passphrase")
    with open(secret, "w") as file:
        file.write("correct horse battery staple\n")
    give = ["--passphrase-file", secret]
    kinds = {
        "both": ([binary, "seal", "-p", *give], [binary, "open", *give], plain),
        "passphrase alone": ([binary, "seal", "-p", *give], [binary, "open", *give], tiny),
        "data alone": ([binary, "seal", "--mode", "hybrid"], [binary, "open"], plain),
    }

    def turn(name, run):
        seal, unseal, source = kinds[name]
        bench.rest(sealed, opened)
        bench.warm(source)
        run(("passphrase", name, "seal"), [[*seal, "-o", sealed, source]], "/dev/null", hybrid)
        os.sync()
        run(("passphrase", name, "open"), [[*unseal, "-o", opened, sealed]], "/dev/null", hybrid)

    for name, (_, _, source) in kinds.items():
        turn(name, bench.checked)
        bench.same(source, opened, f"deadpan with a passphrase ({name})")
    bench.rounds([lambda name=name: turn(name, bench.timed) for name in kinds], count, "passphrase")
    bench.rest(plain, tiny, sealed, opened)


def ranges(bench, binary, hybrid, size, count):
    """Four kilobytes out of a large file and out of one that has no more, as whole processes: the difference is what seeking costs."""
    length = 4096
    tiny, opened = bench.path("tiny"), bench.path("opened")
    sealed = {}
    plain = bench.fill(size)
    with open(plain, "rb") as source, open(tiny, "wb") as target:
        target.write(source.read(length))
    for name, path in [("large", plain), ("tiny", tiny)]:
        sealed[name] = bench.path(f"sealed-{name}")
        bench.runner.run([binary, "seal", "--mode", "hybrid", "-o", sealed[name], path], hybrid.environment)
    os.sync()

    def turn(name, path, run):
        start = bench.random.randrange(os.path.getsize(path) - length + 1)
        command = [binary, "open", "--range", f"{start}:{length}", sealed[name]]
        run(("range", name, "open"), [command], opened, hybrid)
        with open(path, "rb") as file, open(opened, "rb") as result:
            file.seek(start)
            if file.read(length) != result.read():
                raise Failed(f"deadpan open --range {start}:{length}: not what was sealed")

    kinds = [("large", plain), ("tiny", tiny)]
    for name, path in kinds:
        turn(name, path, bench.checked)
    bench.rounds([lambda name=name, path=path: turn(name, path, bench.timed) for name, path in kinds], count, "ranges")
    bench.rest(plain, tiny, opened, *sealed.values())


def process(work):
    """What the library does inside one process, by its own benchmark, which is printed as it is."""
    command = ["cargo", "bench", "--quiet", "--package", "deadpan-seal", "--bench", "whole", "--", work]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=sys.stderr, text=True)
    if result.returncode != 0:
        raise Failed(f"`{' '.join(command[:-1])} DIR` failed")
    return result.stdout.strip().splitlines()
