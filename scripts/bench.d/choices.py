"""Options that all benchmarks share."""

import argparse
import re


def some_of(known):
    def parse(text):
        names = [name for name in text.split(",") if name]
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name} is none of {', '.join(known)}")
        return names

    return parse


def length(text):
    """Reads a length in bytes: 4GiB, 64M and 1K are powers of two, 6.7GB is one of ten."""
    match = re.fullmatch(r"([\d.]+)([KMG]?)(I?B)?", text.upper())
    if not match or (match[3] == "IB" and not match[2]):
        raise argparse.ArgumentTypeError(f"no size: {text} (1K, 10MiB and 1G are powers of two, 6.7GB is one of ten)")
    base = 1000 if match[3] == "B" else 1024
    return round(float(match[1]) * base ** " KMG".index(match[2] or " "))
