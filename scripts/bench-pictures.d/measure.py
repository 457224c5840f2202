"""The measurements, in rounds of all cases. Each run stands beside a `cp` of the same data."""

import os
import shutil
import subprocess

from cases import BACK, DATA, PICTURES
from child import Failed
from peers import Unfit, quiet

OPERATIONS = ["hide", "reveal"]


class Copy:
    """`cp`, as a contestant."""

    environment = {}


def data(bench, size):
    path = bench.path("data")
    bench.fill(size, path)
    return path


def prepare(bench, case, plain, notes):
    """Runs a case once: measures its memory, compares what comes back, and keeps pictures that are written again."""
    bench.say(f"checking {case.name}")
    plain = _part(bench, case, plain)
    pictures, back = _folder(bench, case), bench.path("back")
    try:
        os.mkdir(pictures)
        bench.checked((case.name, "hide"), [_fill(case.hide, plain, pictures, back)], "/dev/null", case)
        if case.again:
            _rewrite(case, pictures)
            del bench.results.peaks[case.name, "hide"]
        bench.checked((case.name, "reveal"), [_fill(case.reveal, plain, pictures, back)], "/dev/null", case)
        bench.same(plain, back, case.name)
    except Unfit as reason:
        notes.append(f"skipped: {case.name}: {reason}")
        print(notes[-1])
        bench.rest(pictures)
        return False
    bench.rest(back, *([] if case.again else [pictures]))
    return True


def turn(bench, case, plain):
    plain = _part(bench, case, plain)
    pictures, back, copied = _folder(bench, case), bench.path("back"), bench.path("copy")
    for operation in OPERATIONS:
        if case.again and operation == "hide":
            continue
        bench.rest(copied)
        bench.warm(plain)
        if operation == "hide":
            os.mkdir(pictures)
        bench.warm(pictures)
        command = _fill(getattr(case, operation), plain, pictures, back)
        for key, command, output, contestant in [
            (("cp", case.name, operation), ["cp", plain, copied], copied, Copy),
            ((case.name, operation), command, pictures if operation == "hide" else back, case),
        ]:
            # On a virtual machine, the first use of memory waits for the host, which takes back what was free for some
            # seconds: the same write takes 0.3 s or 2 s. So each program uses the memory that its first run freed.
            bench.timed(("first", *key), [command], "/dev/null", contestant)
            _empty(output)
            bench.timed(key, [command], "/dev/null", contestant)
            if output == copied:
                _empty(copied)
    bench.same(plain, back, case.name)
    bench.rest(back, *([] if case.again else [pictures]))


def _empty(output):
    """Removes a file, or the files in a folder."""
    for path in [output] if os.path.isfile(output) else [entry.path for entry in os.scandir(output)]:
        os.remove(path)


def _fill(command, plain, pictures, back):
    places = {DATA: plain, PICTURES: pictures, f"{PICTURES}/": f"{pictures}/", BACK: back}
    return [places.get(word, word) for word in command]


def _folder(bench, case):
    return bench.path(case.name.replace(" ", "-")) if case.again else bench.path("pictures")


def _part(bench, case, plain):
    """Returns the data, or the file with their first part."""
    if case.part == 1:
        return plain
    path = f"{plain}-{case.part}"
    if not os.path.exists(path):
        with open(plain, "rb") as source, open(path, "wb") as target:
            command = ["head", "-c", str(os.path.getsize(plain) // case.part)]
            subprocess.run(command, stdin=source, stdout=target, check=True)
    return path


def _rewrite(case, pictures):
    again = pictures + "-again"
    os.mkdir(again)
    for name in sorted(os.listdir(pictures)):
        source, target = os.path.join(pictures, name), os.path.join(again, name)
        quiet(case.again(source, target))
        with open(source, "rb") as before, open(target, "rb") as after:
            if before.read() == after.read():
                raise Failed(f"{case.name}: the program left the pictures as they were")
    shutil.rmtree(pictures)
    os.rename(again, pictures)
