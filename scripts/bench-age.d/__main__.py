"""Age files sealed and opened by Deadpan, beside `age`."""

import os
import random
import shutil
import subprocess
import sys

import pairs
from child import Failed
from figures import least, most
from pairs import METHOD, Pair, on
from peers import age_key, quiet, version

INTRODUCTION = f"""\
# age files beside `age`

Made by `scripts/bench-age`; every figure comes from one run of it.

The first of each pair is Deadpan, the second `age`, with the same X25519 key.

{METHOD}
About half of Deadpan's time on one core is the system's copying of files. The rest is ChaCha20-Poly1305, at 4.2 GB/s on
a core of Zen 4 with AVX-512, and at 2.7 GB/s without, as fast as Go does for `age` (`cargo bench -p deadpan-bench
--bench seal_chunks`). On ext4, files get all their blocks at once, which saves a third of the time for writing.
"""

# How many times as fast as age, by cores.
WANTED = {1: 1.8, 2: 3}


def main():
    parser = pairs.parser("bench-age", "docs/results/age.md")
    parser.add_argument("--ranges", type=int, default=100, metavar="N", help="random ranges to compare (default: 100)")
    options = parser.parse_args(sys.argv[1:])
    if shutil.which("age") is None:
        sys.exit("error: age is missing, and could not be installed\nhint: install Go, or Debian's package age")
    pairs.enter("bench-age", options, 5 * options.size, lambda *given: run(options, *given))


def run(options, work, _gpg_home, runner):
    binary = os.environ["BENCH_BINARY"]

    def prepare(bench, plain):
        sealed, output, key = map(bench.path, ["sealed.age", "output", "key"])
        recipient = age_key("age-keygen", [], key)
        quiet([binary, "seal", "--format", "age", "-r", recipient, "-o", sealed, plain])

        def pair(what, first, second):
            fast = lambda cores, ratio: least(on(what, cores), 1 / ratio, WANTED[cores], "{:.2f} × as fast")
            return Pair(what, first, second, fast)

        return [
            pair(
                "seal",
                [binary, "seal", "--format", "age", "-r", recipient, "-o", output, plain],
                ["age", "-r", recipient, "-o", output, plain],
            ),
            pair(
                "open",
                [binary, "open", "-i", key, "-o", output, sealed],
                ["age", "-d", "-i", key, "-o", output, sealed],
            ),
        ]

    def after(bench):
        bench.rest(bench.path("output"))
        quiet([binary, "open", "-i", bench.path("key"), "-o", bench.path("output"), bench.path("sealed.age")])
        bench.same(bench.path("plain"), bench.path("output"), "deadpan")
        ranges(bench, binary, options)
        peaks = [peak for key, peak in bench.results.peaks.items() if peak is not None]
        memory = [most("peak memory", max(peaks) / 1024, 24, "{:.1f} MiB")] if peaks else []
        return memory, [f"{options.ranges} random ranges of the sealed file were those of the source."]

    pairs.run(options, work, runner, INTRODUCTION, {"age": version("age")}, prepare, after)


def ranges(bench, binary, options):
    """Opens random ranges, and compares each with the source."""
    with open(bench.path("plain"), "rb") as plain:
        for _ in range(options.ranges):
            begin = random.randrange(options.size)
            length = min(random.randrange(1, 300_000), options.size - begin)
            command = [binary, "open", "-i", bench.path("key"), "--range", f"{begin}:{length}", "-o", "-"]
            found = subprocess.run([*command, bench.path("sealed.age")], check=True, capture_output=True).stdout
            plain.seek(begin)
            if found != plain.read(length):
                raise Failed(f"the range {begin}:{length} is wrong")


main()
