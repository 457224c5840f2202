"""A job as a flow: machines work at constant rates between events, which are the ends of their work and their failures.

A worker that dies loses what it had on its way, and nothing else. It is started again after a while, lists its command
from the beginning, and goes on behind what is there. The store's limits are shared by all that work at a moment.
"""

import collections
import math
import random
from dataclasses import dataclass, field

import requests
import speed

# A job that takes so many times as long as without failures does not end.
PATIENCE = 50


@dataclass
class Worker:
    commands: int
    sort: int = 0
    # Objects of this sort that are behind, in this command.
    done: float = 0.0
    # Seconds until it works again: it is started, or it lists what is there.
    away: float = 0.0
    fails_in: float = math.inf


@dataclass
class Course:
    """How a job went."""

    seconds: float = 0.0
    machine_seconds: float = 0.0
    deaths: int = 0
    items_again: int = 0
    bytes_again: float = 0.0
    listing_seconds: float = 0.0
    requests_again: collections.Counter = field(default_factory=collections.Counter)
    limits: collections.Counter = field(default_factory=collections.Counter)
    ends: bool = True


class Flow:
    def __init__(self, sorts, layout, machine, store, probability=0.0, restart=60.0, seed=1):
        self.layout, self.store, self.restart = layout, store, restart
        self.paces = [speed.pace(sort, machine, store, layout.shares) for sort in sorts]
        # Requests to join in again, for an object that was begun.
        again = {"GET": 2, "LISTPARTS": 1, "LIST": 1}
        is_long = lambda sort: sort.length >= requests.long_from(machine.memory)
        self.joining = [again if is_long(sort) and store.in_parts else {} for sort in sorts]
        # Objects of each sort in one command.
        self.counts = [sort.count / layout.commands for sort in sorts]
        self.listing = speed.listing(store)
        # Failures in a second of work.
        self.hazard = -math.log1p(-probability) / 3600 if probability else 0.0
        self.random = random.Random(seed)
        self.course = Course()
        most, rest = divmod(layout.commands, layout.machines) if layout.split else (1, 0)
        self.workers = [Worker(most + (number < rest)) for number in range(layout.machines)]
        for worker in self.workers:
            self._draw(worker)

    def run(self):
        course, clock = self.course, 0.0
        while working := [worker for worker in self.workers if worker.commands]:
            rates, limits = self._rates(working)
            step = min(self._until_event(worker, rates[id(worker)]) for worker in working)
            clock += step
            course.machine_seconds += step * len(working)
            for limit, busy in limits.items():
                course.limits[limit] += busy * step
            for worker in working:
                self._pass(worker, rates[id(worker)], step)
            if clock > PATIENCE * self._alone():
                course.ends = False
                break
        course.seconds = clock
        return course

    def _alone(self):
        """Seconds of the job if nothing fails, by the slowest of its limits and without what the others add."""
        puts, gets = self.store.most()
        total = 0.0
        for pace, count in zip(self.paces, self.counts):
            items = count * self.layout.commands * pace.each
            busy = max(items / (pace.items * self.layout.machines), items * pace.puts / puts, items * pace.gets / gets)
            total += max(busy, count * self.layout.commands / (self.listing * self._commands_at_once()))
        return total + 1

    def _commands_at_once(self):
        return min(self.layout.commands, self.layout.machines) if self.layout.split else 1

    def _items(self, pace):
        """Items of this machine in one object of its command."""
        return pace.each / self.layout.shares

    def _rates(self, working):
        """Returns the objects of its command that each worker passes in a second, and how many each limit holds."""
        busy = [worker for worker in working if not worker.away]
        wanted, puts, gets = {}, 0.0, 0.0
        for worker in busy:
            pace = self.paces[worker.sort]
            rate = min(pace.items / self._items(pace), self.listing)
            wanted[id(worker)] = rate
            puts += rate * self._items(pace) * pace.puts
            gets += rate * self._items(pace) * pace.gets
        most_puts, most_gets = self.store.most()
        shrink = min(1.0, most_puts / puts if puts else 1.0, most_gets / gets if gets else 1.0)
        store = "PUTs of the store" if puts / most_puts >= gets / most_gets else "GETs of the store"
        limits = collections.Counter(
            store
            if shrink < 1
            else "listing" if wanted[id(worker)] >= self.listing else self.paces[worker.sort].limit
            for worker in busy
        )
        return {id(worker): wanted.get(id(worker), 0.0) * shrink for worker in working}, limits

    def _until_event(self, worker, rate):
        if worker.away:
            return min(worker.away, worker.fails_in)
        left = (self.counts[worker.sort] - worker.done) / rate
        return min(left, worker.fails_in)

    def _pass(self, worker, rate, step):
        worker.fails_in -= step
        if worker.away:
            worker.away = max(0.0, worker.away - step)
        else:
            worker.done += rate * step
        if worker.fails_in <= 1e-9:
            self._die(worker)
        elif not worker.away and worker.done >= self.counts[worker.sort] * (1 - 1e-12):
            worker.sort, worker.done = worker.sort + 1, 0.0
            if worker.sort == len(self.paces):
                worker.commands, worker.sort = worker.commands - 1, 0

    def _die(self, worker):
        course, pace = self.course, self.paces[worker.sort]
        course.deaths += 1
        if not worker.away:
            left = max(1, math.ceil((self.counts[worker.sort] - worker.done) * self._items(pace)))
            for _ in range(min(pace.at_once, left)):
                share = self.random.random()
                course.items_again += 1
                course.bytes_again += share * pace.length
                course.requests_again["GET"] += max(1, round(pace.gets * min(1.0, 2 * share)))
                # The second half of the time is that of writing.
                course.requests_again["PUT"] += share > 0.5
            begun = math.ceil(min(pace.at_once, left) / self._items(pace))
            for kind, number in self.joining[worker.sort].items():
                course.requests_again[kind] += begun * number
        passed = sum(self.counts[: worker.sort]) + worker.done
        walk = passed / self.listing
        course.listing_seconds += walk
        course.requests_again["LIST"] += 2 * math.ceil(passed / requests.PAGE)
        course.requests_again["GET"] += 1
        worker.away = self.restart + walk
        self._draw(worker)

    def _draw(self, worker):
        worker.fails_in = self.random.expovariate(self.hazard) if self.hazard else math.inf
