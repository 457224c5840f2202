"""Signed files beside unsigned ones, and detached signatures beside `openssl dgst`."""

import os
import sys

import pairs
from figures import most
from pairs import METHOD, Pair, on
from peers import quiet, version

INTRODUCTION = f"""\
# What signatures cost

Made by `scripts/bench-signing`; every figure comes from one run of it.

{METHOD}
What limits the ratio of signed to unsigned: each byte is hashed with BLAKE3. A core of Zen 4 hashes 6.6 GB/s at most,
and 1 GiB in 0.16 s (`cargo bench -p deadpan-bench --bench seal_hashes`). Sealing without a signature takes twice as
long there, most of it in the system, which copies the data. So the ratio cannot be below 1.5. It rises when sealing
without a signature becomes faster. Without AVX-512, BLAKE3 hashes 2.4 GB/s.
"""

LONG = 100 << 30


def main():
    parser = pairs.parser("bench-signing", "docs/results/signing.md")
    parser.add_argument("--long", type=int, default=LONG, metavar="BYTES", help="the sparse file (0: leave it out)")
    options = parser.parse_args(sys.argv[1:])
    pairs.enter("bench-signing", options, 5 * options.size, lambda *given: run(options, *given))


def run(options, work, _gpg_home, runner):
    binary = os.environ["BENCH_BINARY"]
    environment = {"DEADPAN_HOME": os.path.join(work, "home")}

    def prepare(bench, plain):
        for kind in [[], ["--sign"]]:
            quiet([binary, "keygen", "--no-passphrase", *kind], environment)
        unsigned, signed, signature, output = map(bench.path, ["unsigned.dpn", "signed.dpn", "plain.sig", "output"])
        quiet([binary, "seal", "-o", unsigned, plain], environment)
        quiet([binary, "seal", "--sign", "-o", signed, plain], environment)
        quiet([binary, "sign", "-o", signature, plain], environment)
        digest = ["openssl", "dgst", "-sha512", "-out", output, plain]

        def pair(what, first, second, limit):
            verdict = lambda cores, ratio: most(on(what, cores), ratio, limit, "{:.2f}")
            return Pair(what, first, second, verdict, environment)

        return [
            pair(
                "sealing signed : unsigned",
                [binary, "seal", "-o", output, "--sign", plain],
                [binary, "seal", "-o", output, plain],
                1.25,
            ),
            pair(
                "opening signed : unsigned",
                [binary, "open", "-o", output, "--require-signature", signed],
                [binary, "open", "-o", output, unsigned],
                1.25,
            ),
            pair("sign : openssl dgst -sha512", [binary, "sign", "-o", output, plain], digest, 1 / 0.95),
            pair("verify : openssl dgst -sha512", [binary, "verify", "-s", signature, plain], digest, 1 / 0.95),
        ]

    def after(bench):
        for name, flags in [("signed", ["--sign"]), ("unsigned", [])]:
            bench.rest(bench.path("sealed"), bench.path("output"))
            quiet([binary, "seal", "-o", bench.path("sealed"), *flags, bench.path("plain")], environment)
            quiet([binary, "open", "-o", bench.path("output"), bench.path("sealed")], environment)
            bench.same(bench.path("plain"), bench.path("output"), name)
        return memory(bench, runner, binary, environment, options.long) if options.long else ([], [])

    pairs.run(options, work, runner, INTRODUCTION, {"openssl": version("openssl")}, prepare, after)


def memory(bench, runner, binary, environment, length):
    """Returns the verdict on the peak memory for a long sparse file. The sealed bytes go nowhere."""
    with open(bench.path("sparse"), "wb") as file:
        file.truncate(length)
    stages = [["cat", bench.path("sparse")], [binary, "seal", "--sign", "-o", "-"]]
    peak = runner.peak(stages, "/dev/null", environment, 1)
    if peak is None:
        return [], ["skipped: the memory of a long file: it takes GNU time"]
    what = f"peak memory for {length >> 30} GiB, sparse, signed, from a pipe"
    return [most(what, peak / 1024, 20, "{:.1f} MiB")], []


main()
