"""The measurements, in rounds of all contestants."""

import os
import subprocess
import sys

from child import Failed
from contestants import fill


def files(bench, contestants, size, count):
    """Measures files: each contestant seals and opens a file. `cp` copies the file, and copies the copy."""
    plain, sealed, opened = _plain(bench, size), bench.path("sealed"), bench.path("opened")
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
    """Measures `cat FILE | … | cat > /dev/null`. The contestant in the middle is compared with a `cat`."""
    plain, sealed, opened = _plain(bench, size), bench.path("sealed"), bench.path("opened")
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
        # The sealed file is kept for the rounds, in which sealing writes to /dev/null.
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
    """Measures whether a passphrase is hashed while a large file is sealed: both take about the same time."""
    plain, tiny, sealed, opened = _plain(bench, size), bench.path("tiny"), bench.path("sealed"), bench.path("opened")
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
    """Reads 4 KB out of a large file and out of a file of 4 KB, as whole processes: the difference is the seek."""
    length = 4096
    tiny, opened = bench.path("tiny"), bench.path("opened")
    sealed = {}
    plain = _plain(bench, size)
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
    """Runs the library's own benchmark, which measures inside one process, and prints its output."""
    command = ["cargo", "bench", "--quiet", "--package", "deadpan-seal", "--bench", "whole", "--", work]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=sys.stderr, text=True)
    if result.returncode != 0:
        raise Failed(f"`{' '.join(command[:-1])} DIR` failed")
    return result.stdout.strip().splitlines()


def _plain(bench, size):
    path = bench.path("plain")
    bench.fill(size.bytes, path)
    os.sync()
    return path
