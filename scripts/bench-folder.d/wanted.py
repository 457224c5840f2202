"""The wanted figures for folders."""

from contestants import YARDSTICK
from figures import least, memory, most

BESIDE_TAR = {"pack": 1.2, "unpack": 1.3}
# The operations on the large folder, and on one file of it, in the order of the tables.
LARGE = ["cp -r", "deadpan seal", "deadpan open"]
ONE = ["-o -", "-o DIR"]
# Peak memory, in MiB.
PEAK = 64


def of_mixed(results, contestants):
    """Returns wanted figures by (contestant, operation). Only sealing and opening have one, not packing."""
    verdicts = {}
    for one in contestants:
        if one.name == "deadpan seal":
            for operation, limit in BESIDE_TAR.items():
                key, yardstick = ("mixed", one.name, operation), ("mixed", YARDSTICK, operation)
                what = f"{one.ways[operation].shown}, mixed folder"
                verdicts[one.name, operation] = [most(what, results.ratio(key, yardstick), limit, "{:.2f} × tar")]
    return verdicts


def of_large(results):
    verdicts = {}
    for name in LARGE[1:]:
        # A ratio of speeds is the inverse of the ratio of times.
        speed = 1 / results.ratio(("large", name), ("large", LARGE[0]))
        verdicts[name] = [least(f"{name}, large folder", speed, 0.9, "{:.2f} × the speed of cp -r")]
    return verdicts


def of_one(results):
    what = "one file out of the large folder, {}"
    return {kind: [most(what.format(kind), results.median(("one", kind)) * 1e3, 30, "{:.1f} ms")] for kind in ONE}


def of_million(results, contestants):
    verdicts = {}
    for one in contestants:
        if not one.ours:
            continue
        for operation, way in one.ways.items():
            key, what = ("million", one.name, operation), f"{way.shown}, tiny files"
            found = []
            if operation.startswith("deadpan list"):
                found.append(most(what, results.median(key), 1, "{:.3f} s"))
            verdicts[one.name, operation] = found + memory(results, key, f"{what}: peak memory", PEAK)
    return verdicts
