"""Compares what is computed here with the code, with requests that were counted, and with access logs."""

import collections
import contextlib
import math
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import failures
import requests
import speed
from requests import KINDS, Layout, Sort

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Where the code has the same numbers: a file, a pattern, and the value here.
CODE = [
    ("crates/fleet/src/maker.rs", r"const EACH: u64 = (.*);", requests.EACH),
    ("crates/fleet/src/maker.rs", r"const PARTS: u64 = (.*);", requests.PARTS),
    ("crates/fleet/src/maker.rs", r"const SEGMENT: u64 = (.*);", requests.SEGMENT),
    ("crates/fleet/src/long.rs", r"const FRESH: Duration = Duration::from_secs\((.*)\);", requests.FRESH),
    ("crates/fleet/src/long.rs", r"let fresh = (.*);", "FRESH * (1 + self.count() / 1000) as u32"),
    ("crates/fleet/src/maker.rs", r"const PART: u64 = (.*);", "EACH * SEGMENT"),
    ("crates/fleet/src/maker.rs", r"let each = EACH.max\((.*)\);", "(source.length() / PARTS).div_ceil(SEGMENT) + 1"),
    ("crates/fleet/src/long.rs", r"(2 \* self\.maker\.length\(\))", "2 * self.maker.length()"),
    ("crates/fleet/src/run.rs", r"const PAGE: usize = (.*);", requests.PAGE),
    ("crates/fleet/src/run.rs", r"const THREADS: usize = (.*);", requests.THREADS),
    ("crates/fleet/src/run.rs", r"budget.take\((3 \* expected .*)\);", "3 * expected + (1 << 19)"),
    ("crates/fleet/src/run.rs", r"budget.take\((6 \* .*)\);", "6 * (part + (8 << 20))"),
    ("crates/fleet/src/run.rs", r"let most = (.*);", "(length / PART + 2).min(self.shard.count())"),
    ("crates/fleet/src/page.rs", r"const FEW: usize = (.*);", requests.FEW),
    ("crates/cli/src/command/many.rs", r"long: (.*),", "LONG.min(memory / 3)"),
    ("crates/cli/src/command/many.rs", r"pub const LONG: u64 = (.*);", requests.LONG),
    ("crates/cli/src/command/many.rs", r"const MEMORY: u64 = (.*);", requests.MEMORY),
    ("crates/cli/src/command/many.rs", r"const BESIDE: u64 = (.*);", requests.BESIDE),
    ("crates/remote/src/object.rs", r"const FIRST: u64 = (.*);", requests.FIRST),
    ("crates/remote/src/object.rs", r"const PIECE: u64 = (.*);", requests.PIECE),
    ("crates/remote/src/object.rs", r"const AHEAD: usize = (.*);", requests.AHEAD),
    ("crates/remote/src/store.rs", r"\.worker_threads\((\d+)\)", requests.CARRIERS),
    ("crates/remote/src/upload.rs", r"const PART: u64 = (.*);", requests.UPLOAD_PART),
    ("crates/remote/src/pieces.rs", r"max-parts=(\d+)", requests.PAGE),
    ("crates/seal/src/format/deadpan/floe.rs", r"pub const OVERHEAD: usize = (.*);", "LENGTH + NONCE + TAG"),
]

SMALL = [Sort(25, 10_000), Sort(1, 100_000_000)]
MIDDLE = [Sort(3, 1_000_000), Sort(1, 0)]
# What moto was asked when these jobs were run, in November 2026: the number of shares, which ran one after another with
# the first one at the end, and the requests of a first and of a second run.
COUNTED = [
    (
        "25 objects of 10 KB and one of 100 MB",
        SMALL,
        1,
        dict(LIST=5, GET=37, HEAD=1, PUT=27, CREATE=1, PART=6, LISTPARTS=1, COMPLETE=1, ABORT=1, DELETE=1),
        dict(LIST=3, GET=1),
    ),
    ("3 objects of 1 MB and an empty one", MIDDLE, 1, dict(LIST=3, GET=5, HEAD=5, PUT=5), dict(LIST=3, GET=1)),
    (
        "one object of 64 MiB in 3 shares",
        [Sort(1, 64 << 20)],
        3,
        dict(LIST=10, GET=19, HEAD=1, PUT=2, CREATE=1, PART=5, LISTPARTS=5, COMPLETE=1, ABORT=1, DELETE=1),
        dict(LIST=7, GET=3),
    ),
]
# Requests for one object of 1 GiB, worked out by hand: the number of shares, and of those that begin at the same time.
DIVIDED = [
    (1, 1, dict(LIST=1, GET=70, HEAD=1, PUT=1, CREATE=1, PART=65, LISTPARTS=1, COMPLETE=1, ABORT=1, DELETE=1)),
    (20, 1, dict(LIST=20, GET=127, HEAD=1, PUT=1, CREATE=1, PART=65, LISTPARTS=39, COMPLETE=1, ABORT=1, DELETE=1)),
    (20, 20, dict(LIST=20, GET=184, HEAD=1, PUT=20, CREATE=20, PART=65, LISTPARTS=39, COMPLETE=1, ABORT=20, DELETE=1)),
]
# Parts, worked out by hand: data segments of 262 112 bytes and one for the header, 64 or more to a part.
PARTS = [(64 << 20, 5), (100_000_000, 6), (1 << 30, 65), (100 << 30, 6401), (1 << 40, 9964), (5 << 40, 9983)]


class Checks:
    def __init__(self):
        self.passed, self.failed = 0, []

    def same(self, what, found, wanted):
        if found == wanted:
            self.passed += 1
        else:
            self.failed.append(f"{what}: {found}, and not {wanted}")

    def close(self, what, found, wanted, share=0.01):
        self.same(what, found if abs(found - wanted) > share * wanted else wanted, wanted)


def run(options):
    checks = Checks()
    _code(checks)
    for name, sorts, shares, first, second in COUNTED:
        checks.same(name, _plain(requests.first_run(sorts, Layout(shares))), first)
        checks.same(f"{name}, again", _plain(requests.second_run(sorts, Layout(shares))), second)
    for shares, together, wanted in DIVIDED:
        found = requests.divided(Sort(1, 1 << 30), shares, together=together)
        checks.same(f"1 GiB in {shares} shares, {together} at once", _plain(found), wanted)
    for length, parts in PARTS:
        checks.same(f"parts of {length} bytes", requests.part_count(length), parts)
    _flow(checks)
    if options.binary:
        _served(checks, options.binary)
    for failed in checks.failed:
        print(f"failed: {failed}", file=sys.stderr)
    print(f"{checks.passed} passed, {len(checks.failed)} failed")
    return 1 if checks.failed else 0


def _plain(counts):
    return {kind: counts[kind] for kind in KINDS if counts[kind]}


def _value(text):
    """The number that a constant of Rust stands for; other text stays as it is."""
    plain = text.strip().replace("_", "")
    if re.fullmatch(r"[\d\s<*+()]+", plain):
        return eval(plain, {"__builtins__": {}})  # Digits and operators only.
    return text.strip()


def _code(checks):
    for path, pattern, wanted in CODE:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            found = re.search(pattern, file.read())
        groups = [group for group in found.groups() if group] if found else []
        checks.same(f"{path}: {pattern}", _value(groups[0]) if groups else None, wanted)
    checks.same("bytes of a segment beside its data", requests.OVERHEAD, 4 + 12 + 16)


def _flow(checks):
    machine = speed.Machine(16, 1.5e9, 8 << 30, 1e9, 1e-3, 1e12)
    store = speed.Store(0.1, 85e6, 3500, 5500, 1, True)
    sorts, layout = [Sort(100_000, 1 << 30)], Layout(20)
    go = lambda probability, seed: failures.Flow(sorts, layout, machine, store, probability, 60, seed).run()
    calm, pace = go(0, 1), speed.pace(sorts[0], machine, store, layout.shares)
    checks.close("seconds without failures", calm.seconds, 100_000 * 65 / 20 / pace.items)
    checks.same("deaths without failures", calm.deaths, 0)
    rough = [go(0.2, seed) for seed in (1, 1, 2)]
    checks.same("the same seed, the same course", rough[0], rough[1])
    checks.same("another seed, another course", rough[0].seconds != rough[2].seconds, True)
    checks.same("what a dead worker loses", rough[0].items_again <= rough[0].deaths * pace.at_once, True)
    expected = -math.log(0.8) * rough[0].machine_seconds / 3600
    checks.same("deaths", abs(rough[0].deaths - expected) < 5 * expected**0.5 + 1, True)
    # What the design counted on paper: 20 networks of 1.5 GB/s, and one prefix with 3500 PUTs in a second.
    near = speed.Store(0.01, 1e9, 3500, 5500, 1, True)
    network = failures.Flow([Sort(10**15 >> 30, 1 << 30)], layout, machine, near).run()
    checks.close("hours of 1 PB over 20 networks", network.seconds / 3600, 9.26)
    slow = failures.Flow([Sort(10**9, 10_000)], layout, machine, near).run()
    checks.close("hours of 10^9 objects in one prefix", slow.seconds / 3600, 79.4)


# Requests in an access log: `"PUT /bucket/key?partNumber=1&uploadId=x HTTP/1.1"`, as moto, versitygw and S3 write them.
REQUEST = re.compile(r'"(?:\x1b\[[0-9;]*m)*(GET|HEAD|PUT|POST|DELETE) (\S+) HTTP')


def kind(method, target):
    _, _, query = target.partition("?")
    names = {pair.partition("=")[0] for pair in query.split("&")}
    if method == "GET":
        return "LIST" if "list-type" in names else "LISTPARTS" if "uploadId" in names else "GET"
    if method == "PUT":
        return "PART" if "partNumber" in names else "PUT"
    if method == "POST":
        return "CREATE" if "uploads" in names else "COMPLETE" if "uploadId" in names else "DELETE"
    if method == "DELETE":
        return "ABORT" if "uploadId" in names else "DELETE"
    return method


def counted(lines):
    """Returns how many requests of each kind a log has. The request that makes the bucket is left out."""
    found = collections.Counter()
    for line in lines:
        request = REQUEST.search(line)
        if request and not (request[1] == "PUT" and request[2].strip("/").count("/") == 0):
            found[kind(request[1], request[2])] += 1
    return found


def log(options, layout, in_parts):
    with open(options.log, encoding="utf-8", errors="replace") as file:
        found = counted(file)
    wanted = requests.first_run(options.sorts, layout, in_parts=in_parts, memory=options.max_memory)
    print(f"{'':10}{'log':>12}{'computed':>12}")
    for name in KINDS:
        if found[name] or wanted[name]:
            print(f"{name:10}{found[name]:12}{wanted[name]:12}{'' if found[name] == wanted[name] else '  differs'}")
    return 0 if found == wanted else 1


def _served(checks, binary):
    """Runs the jobs that were counted with this program, and counts again."""
    server = os.path.join(ROOT, "target/tools/moto/bin/moto_server")
    if not os.path.exists(server):
        print("skipped: moto is missing: scripts/tool moto")
        return
    with tempfile.TemporaryDirectory() as folder, _moto(server, folder) as (port, read):
        environment = {
            **os.environ,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "NO_PROXY": "127.0.0.1",
            "HOME": folder,
            "DEADPAN_HOME": os.path.join(folder, "keys"),
        }
        deadpan = lambda *arguments: subprocess.run(
            [os.path.abspath(binary), *arguments], env=environment, check=True, capture_output=True, timeout=120
        )
        deadpan("keygen", "--no-passphrase", "--mode", "ecc")
        key = os.path.join(folder, "job.key")
        deadpan("cluster", "key", "-o", key)
        _put(port, "bucket", b"")
        for number, (name, sorts, shares, first, second) in enumerate(COUNTED):
            for index, length in enumerate(sort.length for sort in sorts for _ in range(sort.count)):
                _put(port, f"bucket/{number}/{index:03}", os.urandom(length))
            # Sources of the last second are sealed a second later.
            time.sleep(1.2)
            for what, wanted in [(name, first), (f"{name}, again", second)]:
                before = len(read())
                for share in reversed(range(shares)):
                    shard = ["--job-key", key, "--shard", f"{share}/{shares}"] if shares > 1 else []
                    deadpan("seal", f"s3://bucket/{number}/", "--to", f"s3://bucket/sealed{number}/", *shard)
                checks.same(f"{what}, at moto", _plain(counted(read()[before:])), wanted)


@contextlib.contextmanager
def _moto(server, folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = os.path.join(folder, "log")
    with open(path, "w", encoding="utf-8") as output:
        child = subprocess.Popen([server, "-H", "127.0.0.1", "-p", str(port)], stdout=output, stderr=output)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield port, lambda: open(path, encoding="utf-8", errors="replace").read().splitlines()
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()


def _put(port, path, data):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    headers = {"Content-Type": "application/octet-stream"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/{path}", data, headers, method="PUT")
    opener.open(request, timeout=60).close()
