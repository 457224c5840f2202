"""Runs a program, or several in a pipeline, and says what it took.

Two clocks for two questions. Times come from `wait4` on a child that was spawned directly: nothing stands between us and it. The peak
memory cannot: Linux counts what the parent had before `exec` as the child's own peak, so behind a Python of 20 MiB no child ever shows
less. For memory alone the program runs behind GNU time, which is a megabyte.
"""

import os
import shutil
import signal
import subprocess
import time
from collections import namedtuple

Took = namedtuple("Took", "wall cpu user system")

# A child of a megabyte must be seen as one.
SMALL_KIB = 4 * 1024


class Failed(Exception):
    """A program that we ran did not do its work."""


class Runner:
    def __init__(self, work):
        self.log = os.path.join(work, "messages")
        self.peak_file = os.path.join(work, "peak")
        self.running = []
        self.gnu_time = self._gnu_time()

    def run(self, command, environment=None):
        return self.pipeline([command], "/dev/null", environment)

    def pipeline(self, stages, output, environment=None, measured=0):
        """Wall clock of all stages together; the processor time is that of stage `measured`; None: of all."""
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
        """Peak memory of stage `measured`, in KiB; None where there is no GNU time."""
        if not self.gnu_time:
            self.pipeline(stages, output, environment, measured)
            return None
        stages = list(stages)
        stages[measured] = ["time", "--quiet", "--format", "%M", "--output", self.peak_file, *stages[measured]]
        self.pipeline(stages, output, environment, measured)
        with open(self.peak_file) as lines:
            return int(lines.read().split()[-1])

    def check_peak(self):
        """A measure of memory that cannot see a small program is no measure."""
        peak = self.peak([["true"]], "/dev/null")
        if peak is not None and peak >= SMALL_KIB:
            raise Failed(f"`true` shows a peak of {peak} KiB: peak memory cannot be measured here")
        return peak

    def _gnu_time(self):
        """BSD's has the same name and other options."""
        found = shutil.which("time")
        return bool(found) and "GNU" in subprocess.run([found, "--version"], capture_output=True, text=True).stdout

    def stop(self):
        """Nothing that we started outlives us."""
        for process in self.running:
            try:
                os.kill(process, signal.SIGKILL)
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
                    (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0) if source is None else (os.POSIX_SPAWN_DUP2, source, 0),
                    (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                    if last
                    else (os.POSIX_SPAWN_DUP2, write, 1),
                    (os.POSIX_SPAWN_OPEN, 2, self.log, os.O_WRONLY | os.O_APPEND, 0),
                ]
                # Python ignores SIGPIPE, which children would inherit: a stage whose reader died would not end.
                process = os.posix_spawnp(command[0], command, environment, file_actions=actions, setsigdef=[signal.SIGPIPE])
                self.running.append(process)
                source = read
        finally:
            # Ours are closed only now; children got theirs by dup2 and none inherits the rest. A pipe that we kept open would never end.
            for end in ends:
                os.close(end)

    def _fail(self, command, status):
        with open(self.log, errors="replace") as lines:
            message = lines.read().strip() or "it said nothing"
        raise Failed(f"`{' '.join(command)}` failed ({os.waitstatus_to_exitcode(status)}):\n{message}")
