"""Runs a program, or a pipeline of programs, and measures time and memory.

There are two measurements. Times come from `wait4` on a child that this program spawned directly. For
peak memory the child runs under GNU time: Linux counts the parent's memory before `exec` as part of the child's peak,
and Python has 20 MiB, GNU time 1 MiB.
"""

import os
import shutil
import signal
import subprocess
import time
from collections import namedtuple

Took = namedtuple("Took", "wall cpu user system")

# The measurement must see a child that uses one megabyte.
SMALL_KIB = 4 * 1024


class Failed(Exception):
    """A program that the benchmark ran has failed."""


class Runner:
    def __init__(self, work):
        self.log = os.path.join(work, "messages")
        self.peak_file = os.path.join(work, "peak")
        self.running = []
        self.gnu_time = self._gnu_time()

    def run(self, command, environment=None):
        return self.pipeline([command], "/dev/null", environment)

    def pipeline(self, stages, output, environment=None, measured=0):
        """Measures the wall clock of all stages, and the processor time of stage `measured` (None: of all)."""
        environment = {**os.environ, "LC_ALL": "C", **(environment or {})}
        open(self.log, "w").close()
        statuses, usages = [], []
        begin = time.perf_counter()
        self._spawn(stages, output, environment)
        for process in list(self.running):
            _, status, usage = os.wait4(process, 0)
            self.running.remove(process)
            statuses.append(status)
            usages.append(usage)
        wall = time.perf_counter() - begin
        for command, status in zip(stages, statuses):
            if status != 0:
                self._fail(command, status)
        counted = usages if measured is None else [usages[measured]]
        user, system = sum(usage.ru_utime for usage in counted), sum(usage.ru_stime for usage in counted)
        return Took(wall, user + system, user, system)

    def peak(self, stages, output, environment=None, measured=0):
        """Returns the peak memory of stage `measured` in KiB, or None without GNU time."""
        if not self.gnu_time:
            self.pipeline(stages, output, environment, measured)
            return None
        stages = list(stages)
        stages[measured] = ["time", "--quiet", "--format", "%M", "--output", self.peak_file, *stages[measured]]
        self.pipeline(stages, output, environment, measured)
        with open(self.peak_file) as lines:
            return int(lines.read().split()[-1])

    def check_peak(self):
        """Checks that the measured memory of a small program is small."""
        peak = self.peak([["true"]], "/dev/null")
        if peak is not None and peak >= SMALL_KIB:
            raise Failed(f"`true` shows a peak of {peak} KiB: peak memory cannot be measured here")
        return peak

    def _gnu_time(self):
        """Finds GNU time. BSD's `time` has other options."""
        found = shutil.which("time")
        return bool(found) and "GNU" in subprocess.run([found, "--version"], capture_output=True, text=True).stdout

    def stop(self):
        """Kills every child that is still running, and what it started: GNU time starts the measured program."""
        for process in self.running:
            try:
                os.killpg(process, signal.SIGKILL)
                os.waitpid(process, 0)
            except OSError:
                pass
        self.running.clear()

    def _spawn(self, stages, output, environment):
        source, ends = None, []
        try:
            for number, command in enumerate(stages):
                last = number == len(stages) - 1
                read, write = (None, None) if last else os.pipe()
                ends += [end for end in (read, write) if end is not None]
                actions = [
                    (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)
                    if source is None
                    else (os.POSIX_SPAWN_DUP2, source, 0),
                    (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                    if last
                    else (os.POSIX_SPAWN_DUP2, write, 1),
                    (os.POSIX_SPAWN_OPEN, 2, self.log, os.O_WRONLY | os.O_APPEND, 0),
                ]
                # Python ignores SIGPIPE, and children would inherit that: a stage whose reader died would not end.
                # In a group of its own, so that the program and its children can be killed together.
                process = os.posix_spawnp(
                    command[0], command, environment, file_actions=actions, setsigdef=[signal.SIGPIPE], setpgroup=0
                )
                self.running.append(process)
                source = read
        finally:
            # The parent closes its ends of the pipes only now. Children have theirs by dup2 and inherit no others. A
            # pipe with an open end here would never end.
            for end in ends:
                os.close(end)

    def _fail(self, command, status):
        with open(self.log, errors="replace") as lines:
            message = lines.read().strip() or "it wrote no message"
        raise Failed(f"`{' '.join(command)}` failed ({os.waitstatus_to_exitcode(status)}):\n{message}")
