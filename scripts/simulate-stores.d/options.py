"""The options of the command line."""

import argparse
import math
import re
import statistics

from prices import CLASSES, Prices
from requests import BESIDE, Layout, Sort
from speed import Machine, Store

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
BINARY = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
# Lengths that stand for a distribution.
SLICES = 50


def number(text):
    """10k is 10 000 and 16Mi is 16 777 216, as 1e9 is 10^9."""
    found = re.fullmatch(r"([0-9.]+(?:e[0-9]+)?)([kmgtp]?)(i?)b?", text.strip().lower())
    if not found:
        raise argparse.ArgumentTypeError(f"{text} is no number, such as 1e9, 10K or 16MiB")
    return round(float(found[1]) * (BINARY if found[3] else UNITS)[found[2]])


def sort(text):
    count, _, length = text.partition("x")
    if not number(count):
        raise argparse.ArgumentTypeError(f"{text} is no object at all")
    return [Sort(number(count), number(length))]


def spread(text):
    """COUNT,MEDIAN,SIGMA: lengths whose logarithms are normal. Each of 50 slices has the length of its middle."""
    fields = text.split(",")
    if len(fields) != 3:
        raise argparse.ArgumentTypeError(f"{text} is not COUNT,MEDIAN,SIGMA, such as 1e6,1M,2")
    count, median, sigma = number(fields[0]), number(fields[1]), float(fields[2])
    normal = statistics.NormalDist()
    middles = [normal.inv_cdf((slice_ + 0.5) / SLICES) for slice_ in range(SLICES)]
    return [Sort(max(1, round(count / SLICES)), round(median * math.exp(sigma * middle))) for middle in middles]


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/simulate-stores",
        description="What sealing from store to store costs. Lengths may end in K, M, G, T, P, or in KiB, MiB …",
    )
    add = parser.add_argument
    add("--objects", type=sort, action="append", metavar="NxLENGTH", help="so many objects: 1e9x10K; repeatable")
    add("--lognormal", type=spread, action="append", metavar="N,MEDIAN,SIGMA", help="a distribution, such as 1e6,1M,2")
    add("--machines", type=int, default=20, metavar="N")
    add("--cores", type=int, default=16, metavar="N", help="of each machine (default: 16)")
    add("--rate", type=number, default="1.5G", metavar="BYTES", help="of its network, a second and direction (1.5G)")
    add("--max-memory", type=number, default="224MiB", metavar="SIZE", help="as the option of seal (224MiB)")
    add("--seal-rate", type=number, default="1G", metavar="BYTES", help="that a core seals and hashes in a second (1G)")
    add("--seal-each", type=float, default=0.0015, metavar="SECONDS", help="of a core for each object (0.0015)")
    add("--wire-rate", type=number, default="700M", metavar="BYTES", help="that a connection thread moves (700M)")
    add("--latency", type=float, default=0.1, metavar="SECONDS", help="until an answer begins (0.1)")
    add("--stream", type=number, default="85M", metavar="BYTES", help="over one connection in a second (85M)")
    add("--puts", type=float, metavar="N", help="that the store allows for a prefix and second (3500; gcs: 1000)")
    add("--gets", type=float, metavar="N", help="that the store allows for a prefix and second (5500; gcs: 5000)")
    add("--prefixes", type=int, metavar="N", help="among which the objects are spread (1, or those of --split)")
    add("--split", type=int, default=0, metavar="K", help="K prefixes with a command each, instead of --shard")
    add("--together", type=int, default=1, metavar="N", help="shares that begin each long object at once (1)")
    add("--store", choices=list(CLASSES), default="s3", help="whose prices count (s3); gcs makes no parts")
    add("--price", type=price, metavar="WRITE,READ", help="dollars for a million requests that write, and that read")
    add("--machine-price", type=float, default=0.0, metavar="DOLLARS", help="of a machine for an hour (0)")
    add("--fail", type=float, default=0.0, metavar="P", help="probability that a worker dies within an hour (0)")
    add("--restart", type=float, default=60.0, metavar="SECONDS", help="until a dead worker is started again (60)")
    add("--seed", type=int, default=1, metavar="N")
    add("--markdown", action="store_true", help="print the tables of docs/scale-costs.md")
    add("--check", action="store_true", help="compare the counts with the code and with numbers that were counted")
    add("--binary", metavar="PATH", help="with --check: count the requests of this deadpan at moto, too")
    add("--log", metavar="FILE", help="compare the access log of a server (moto, versitygw) with this job")
    options = parser.parse_args(arguments)
    usual = (1000.0, 5000.0) if options.store == "gcs" else (3500.0, 5500.0)
    options.puts, options.gets = options.puts or usual[0], options.gets or usual[1]
    rates = ["rate", "seal_rate", "wire_rate", "stream", "puts", "gets"]
    for name in ["machines", "cores", "latency", "together", *rates]:
        if getattr(options, name) <= 0:
            parser.error(f"--{name.replace('_', '-')} is more than 0")
    if not 0 <= options.fail < 1:
        parser.error("--fail is a probability below 1")
    if options.max_memory < BESIDE + (40 << 20):
        parser.error("--max-memory is at least 88MiB")
    if options.prefixes is None:
        options.prefixes = max(1, options.split)
    options.sorts = [one for group in (options.objects or []) + (options.lognormal or []) for one in group]
    return options


def price(text):
    writing, _, reading = text.partition(",")
    return float(writing), float(reading or 0)


def layout(options):
    return Layout(options.machines, options.split)


def machine(options):
    core = options.seal_rate, options.seal_each, options.wire_rate
    return Machine(options.cores, options.rate, options.max_memory, *core)


def store(options):
    in_parts = options.store != "gcs"
    return Store(options.latency, options.stream, options.puts, options.gets, options.prefixes, in_parts)


def prices(options, name=None):
    return Prices(name or options.store, *(options.price or (None, None)))
