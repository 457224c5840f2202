"""Compares secrets by two textbook loops, and asks the lab whether the time tells where the first wrong byte is.

Both loops look at all bytes. In Python this is not enough: arithmetic on integers takes time that depends on their
values. docs/lab-worker.md says more.
"""

import hmac
import platform

import deadpan

SECRET = bytes(range(1, 33))


def by_xor(a, b):
    different = 0
    for x, y in zip(a, b):
        different |= x ^ y
    return different == 0


def by_difference(a, b):
    different = 0
    for x, y in zip(a, b):
        different |= x - y
    return different == 0


def wrong_at(position):
    return bytes(byte ^ (0xFF if at == position else 0) for at, byte in enumerate(SECRET))


def compare(function, quick=False):
    first, last = (SECRET, wrong_at(0)), (SECRET, wrong_at(len(SECRET) - 1))
    return deadpan.lab.compare_timing(function, first, last, names=("first byte", "last byte"), quick=quick)


if __name__ == "__main__":
    print(f"{platform.python_implementation()} {platform.python_version()}")
    for function in (by_xor, by_difference, hmac.compare_digest, deadpan.ct.compare_digest):
        print(f"\n{function.__name__}: {compare(function)}")
