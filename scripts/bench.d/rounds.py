"""Measures in rounds: each round runs every contestant once, in a new random order.

Before each timed run the old output is removed and dirty pages are written to the disk (`sync`). Otherwise the dirty
pages of one run would slow down the next run: above a limit, the system makes writers wait, and the same `cp` writes at
5 GB/s or at 1 GB/s. The input is in the page cache for every contestant: the benchmark measures the cost of sealing,
not the disk.
"""

import os
import random
import statistics
import subprocess
from collections import defaultdict

from child import Failed

BLOCK = 1 << 20


class Results:
    """Times by key. Each list is in the order of the rounds, so that equal indexes belong to one round."""

    def __init__(self):
        self.times = defaultdict(list)
        self.peaks = {}

    def median(self, key, what="wall"):
        return statistics.median(getattr(took, what) for took in self.times[key])

    def least(self, key):
        return min(took.wall for took in self.times[key])

    def ratio(self, key, yardstick):
        """Returns the median of the ratios within each round, so that a drift between rounds cancels."""
        return statistics.median(mine.wall / its.wall for mine, its in zip(self.times[key], self.times[yardstick]))

    def difference(self, key, yardstick):
        return statistics.median(mine.wall - its.wall for mine, its in zip(self.times[key], self.times[yardstick]))

    def raw(self):
        """Returns every single time, for JSON."""
        named = lambda part: str(getattr(part, "name", part))
        return [
            {"what": [named(part) for part in key], "times": [took._asdict() for took in times]}
            for key, times in self.times.items()
        ]

    def __contains__(self, key):
        return key in self.times


class Bench:
    def __init__(self, work, runner, say):
        self.runner, self.say, self.results = runner, say, Results()
        self.path = lambda name: os.path.join(work, name)
        # The order is random, and the same in every run of the script.
        self.random = random.Random(1)

    def rounds(self, turns, count, what):
        """Runs each function of `turns` once a round, in a new random order each time."""
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
        """Measures the peak memory in a run that is not timed. The caller then compares the output with the source."""
        self.results.peaks[key] = self.runner.peak(stages, output, contestant.environment, measured)

    def same(self, one, other, who):
        compare = ["diff", "--recursive", "--brief", "--no-dereference"] if os.path.isdir(one) else ["cmp", "--silent"]
        if subprocess.run([*compare, one, other], stdout=subprocess.DEVNULL).returncode != 0:
            raise Failed(f"{who}: the opened data differ from the sealed data")

    def fill(self, size, path):
        """Makes data that do not repeat, so that disks, file systems and compressors find no shortcut."""
        with open(path, "wb") as file:
            for begin in range(0, size, BLOCK):
                file.write(os.urandom(min(BLOCK, size - begin)))

    def warm(self, path):
        """Reads a file or a folder, so that it is in the page cache."""
        if os.path.isdir(path):
            subprocess.run(
                ["find", path, "-type", "f", "-exec", "cat", "{}", "+"], stdout=subprocess.DEVNULL, check=True
            )
            return
        buffer = bytearray(BLOCK)
        with open(path, "rb", buffering=0) as file:
            while file.readinto(buffer):
                pass

    def cool(self, path):
        """Drops files from the page cache, which cannot hold all of them. Their pages must be synced already."""
        paths = (
            [path]
            if os.path.isfile(path)
            else [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
        )
        for path in paths:
            with open(path, "rb", buffering=0) as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
