"""Measuring fairly: everything that is compared runs in one round, in random order, and rounds are repeated.

Before each timed run its output is removed and the system writes out what it still holds (`sync`). Otherwise the dirty pages of the run
before count against the next one: past a limit the system makes the writer wait, and the same `cp` writes at 5 GB/s or at 1, depending on
who ran before it. What is read is in the page cache, for all alike: the question is what sealing costs, not what the disk does.
"""

import os
import random
import statistics
import subprocess
from collections import defaultdict

from child import Failed

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

    def raw(self):
        """Every single time, for JSON."""
        named = lambda part: str(getattr(part, "name", part))
        return [{"what": [named(part) for part in key], "times": [took._asdict() for took in times]} for key, times in self.times.items()]

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
        """Removes files and folders."""
        for path in outputs:
            if os.path.isdir(path):
                subprocess.run(["rm", "-rf", "--", path], check=True)
            elif os.path.exists(path):
                os.remove(path)
        os.sync()

    def timed(self, key, stages, output, contestant, measured=0):
        self.results.times[key].append(self.runner.pipeline(stages, output, contestant.environment, measured))

    def checked(self, key, stages, output, contestant, measured=0):
        """A run that is not timed: it shows the peak memory, and what it writes is compared with the source later on."""
        self.results.peaks[key] = self.runner.peak(stages, output, contestant.environment, measured)

    def same(self, one, other, who):
        compare = ["diff", "--recursive", "--brief", "--no-dereference"] if os.path.isdir(one) else ["cmp", "--silent"]
        if subprocess.run([*compare, one, other], stdout=subprocess.DEVNULL).returncode != 0:
            raise Failed(f"{who}: what was opened is not what was sealed")

    def fill(self, size, path):
        """Data that do not repeat: disks, file systems and compressors must not find them easy."""
        with open(path, "wb") as file:
            for begin in range(0, size, BLOCK):
                file.write(os.urandom(min(BLOCK, size - begin)))

    def warm(self, path):
        """Reads a file or a folder, so that it is in the page cache whatever the others did to it."""
        if os.path.isdir(path):
            subprocess.run(["find", path, "-type", "f", "-exec", "cat", "{}", "+"], stdout=subprocess.DEVNULL, check=True)
            return
        buffer = bytearray(BLOCK)
        with open(path, "rb", buffering=0) as file:
            while file.readinto(buffer):
                pass

    def cool(self, path):
        """Takes files out of the page cache, where there is no room for all: what was written must have been synced."""
        paths = [path] if os.path.isfile(path) else [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
        for path in paths:
            with open(path, "rb", buffering=0) as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
