"""The measurements, in rounds of all contestants. Each contestant's result is compared once with the source."""

import hashlib
import os
import shutil
from collections import defaultdict

import server
import with_ray
from child import Failed

BIG, SEALED, SMALL, SHARED, OUT = "big", "big.dpn", "small", "shared", "out"
SMALL_LENGTH = 10_000
# The range of the large object: where it begins if the object is long enough, and its length.
BEGIN, LENGTH = 1_000_000_000, 65_536
TIMES = 20


class Measure:
    def __init__(self, bench, store, environment):
        self.bench, self.store, self.environment = bench, store, environment
        # What a contestant said when it failed, and the processor times of the server, by key.
        self.failures, self.server = {}, defaultdict(list)
        # The requests for one range, by contestant.
        self.requests = {}

    def make_big(self, size):
        """Uploads the large object."""
        self.bench.say("making the large object")
        local = self.bench.path("big")
        self.bench.fill(size, local)
        with open(local, "rb") as file:
            self.store.put([(BIG, file)])
        os.remove(local)

    def seal_big(self, sealed):
        """Seals the large object for the parts that open it, and removes it. Returns its digest and its range."""
        self.bench.say("sealing the large object")
        stages = sealed.fill(sealed.one, {"source": BIG, "new": BIG})
        self.bench.runner.pipeline(stages, "/dev/null", self.environment)
        path = self.store.path(BIG)
        begin = BEGIN if os.path.getsize(path) >= BEGIN + LENGTH else os.path.getsize(path) // 2
        with open(path, "rb") as file:
            file.seek(begin)
            excerpt = file.read(LENGTH)
        found = digest(path), begin, excerpt
        self.store.clear(SEALED)
        return found

    def make_small(self, count):
        self.bench.say("making the small objects")
        self.store.put((f"{SMALL}/{number:06}", os.urandom(SMALL_LENGTH)) for number in range(count))

    def one(self, section, source, contestants, check, count):
        """Measures the commands for one object. `check(contestant, file)` looks at the object that came out."""
        self._rounds(section, contestants, {"source": source}, lambda one: one.one, f"{OUT}/{source}", check, count)

    def many(self, section, contestants, count):
        """Measures the commands for all objects below a prefix."""
        check = lambda one: self.same_objects(SMALL, one)
        places = {"source": SMALL, "local": self.bench.path("local")}
        self._rounds(section, contestants, places, lambda one: one.many, OUT, check, count)

    def make_shared(self, size):
        """Uploads the objects for the shares."""
        self.bench.say("making the objects for the shares")
        local = self.bench.path("shared")
        for number in range(with_ray.OBJECTS):
            self.bench.fill(size // with_ray.OBJECTS, local)
            with open(local, "rb") as file:
                self.store.put([(f"{SHARED}/{number}", file)])
        os.remove(local)

    def shared(self, contestants, environment, count):
        """Measures the same shares with Ray and without."""
        self.environment = environment
        check = lambda one: self.same_objects(SHARED, one)
        self._rounds("ray", contestants, {"source": SHARED}, lambda one: one.many, OUT, check, count)

    def ranges(self, binary, peers, begin, excerpt):
        """Opens a range of the sealed object, counts the requests, and compares the bytes."""
        place = f"{server.BUCKET}/{SEALED}"
        commands = {
            "deadpan open --range": [binary, "open", "--range", f"{begin}:{LENGTH}", "-o", "-", f"s3://{place}"],
            "rclone cat": ["rclone", "cat", "--offset", str(begin), "--count", str(LENGTH), f"store:{place}"],
        }
        output, log = self.bench.path("range"), self.bench.path("requests")
        if not any(one.name == "rclone" for one in peers):
            del commands["rclone cat"]
        for name, command in commands.items():
            # A second server over the same folder writes the requests down: this takes time.
            with server.running(self.store.folder, log) as counted:
                variables = self.environment | counted.environment()
                variables["RCLONE_CONFIG_STORE_ENDPOINT"] = counted.endpoint
                self.bench.results.peaks["range", name] = self.bench.runner.peak([command], output, variables)
            with open(log) as lines:
                self.requests[name] = sum(" s3_" in line for line in lines)
            os.remove(log)
            with open(output, "rb") as file:
                if name.startswith("deadpan") and file.read() != excerpt:
                    raise Failed(f"{name}: the range differs from the source")
        turns = [
            lambda name=name, command=command: self._timed(("range", name), [command], output)
            for name, command in commands.items()
        ]
        self.bench.rounds(turns, TIMES, "range")
        os.remove(output)

    def _rounds(self, section, contestants, places, stages, new, check, count):
        def turn(contestant, run):
            self.store.clear(BIG, SEALED, SMALL, SHARED)
            shutil.rmtree(self.bench.path("local"), ignore_errors=True)
            os.sync()
            # rclone's crypt has the folder `out` as its root, and other names for the objects there.
            filled = {**places, "new": new, "name": new.partition("/")[2]}
            run((section, contestant.name), contestant.fill(stages(contestant), filled))

        present = []
        for contestant in contestants:
            if not stages(contestant):
                continue
            self.bench.say(f"{section}: checking {contestant.name}")
            try:
                turn(contestant, self._checked)
                check(contestant)
                present.append(contestant)
            except Failed as failure:
                # The first line is the whole command, the next one what the program said.
                why = str(failure).splitlines()[:2][-1]
                self.failures[section, contestant.name] = why
                print(f"failed: {section}: {contestant.name}: {why}")
        turns = [lambda contestant=contestant: turn(contestant, self._timed) for contestant in present]
        self.bench.rounds(turns, count, section)
        self.store.clear(BIG, SEALED, SMALL, SHARED)
        shutil.rmtree(self.bench.path("local"), ignore_errors=True)

    def _checked(self, key, stages):
        # Of a pipeline, the last program uploads and has the most memory.
        peak = self.bench.runner.peak(stages, "/dev/null", self.environment, len(stages) - 1)
        self.bench.results.peaks[key] = peak

    def _timed(self, key, stages, output="/dev/null"):
        before = self.store.processor()
        took = self.bench.runner.pipeline(stages, output, self.environment, None)
        self.server[key].append(self.store.processor() - before)
        self.bench.results.times[key].append(took)

    def same_big(self, contestant):
        """Compares the object that came out with the large object, after opening it if it is sealed."""
        self._same(contestant, self.store.path(BIG), BIG)

    def same_objects(self, prefix, contestant):
        """Counts the objects that came out, and compares the first and the last with their sources."""
        names = sorted(os.listdir(self.store.path(prefix)))
        made = [
            name for _, _, files in os.walk(self.store.path(OUT)) for name in files if name.endswith(contestant.ending)
        ]
        if len(made) != len(names):
            raise Failed(f"{len(made)} objects came out of {len(names)}")
        for name in (names[0], names[-1]):
            self._same(contestant, self.store.path(f"{prefix}/{name}"), name)

    def same_digest(self, wanted):
        def check(contestant):
            if digest(self.store.path(f"{OUT}/{SEALED}")) != wanted:
                raise Failed("the opened object differs from the source")

        return check

    def _same(self, contestant, source, key):
        file = self.store.path(f"{OUT}/{key}{contestant.ending}")
        command = ["cat", file]
        if contestant.opened:
            command = contestant.fill(contestant.opened, {"file": file, "opened": key})[0]
        # The comparison runs as the second stage of a pipeline.
        try:
            self.bench.runner.pipeline([command, ["cmp", "--", "-", source]], "/dev/null", self.environment)
        except Failed as failure:
            raise Failed(f"{key} does not come back unchanged: {str(failure).splitlines()[-1]}") from None


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
