"""How fast one machine and one store are, and which of their limits counts."""

from dataclasses import dataclass

import requests
from requests import BESIDE, THREADS


@dataclass(frozen=True)
class Machine:
    cores: int
    # Bytes in a second, in each direction.
    rate: float
    memory: int
    # Bytes that a core seals in a second, and what an object costs beside its bytes.
    seal_rate: float
    seal_each: float


@dataclass(frozen=True)
class Store:
    # Seconds until an answer begins, and bytes in a second over one connection.
    latency: float
    stream: float
    puts: float
    gets: float
    prefixes: int
    in_parts: bool

    def most(self):
        return self.puts * self.prefixes, self.gets * self.prefixes


@dataclass(frozen=True)
class Pace:
    """How one machine works on objects of one sort.

    An item is a short object, a part, or a long object that is not divided.
    """

    items: float
    limit: str
    at_once: int
    memory: int
    gets: float
    puts: float
    length: int
    # Items of one object.
    each: int
    seconds: float


def pace(sort, machine, store):
    data = machine.memory - BESIDE
    if not sort.is_long():
        return _short(sort, machine, store, data)
    if store.in_parts:
        length, count = requests.part_length(sort.length), requests.part_count(sort.length)
        length = min(length, requests.divided(sort.length, count))
        at_once = max(1, min(THREADS, data // (2 * length)))
        seconds = 2 * store.latency + 2 * length / store.stream + length / machine.seal_rate
        limits = _limits(at_once, seconds, data // (2 * length), machine, length, length / machine.seal_rate)
        return _slowest(limits, at_once, BESIDE + at_once * 2 * length, 1, 1, length, count, seconds)
    return _stream(sort, machine, store, data)


def _short(sort, machine, store, data):
    length, gets = sort.length, requests.gets(sort.length)
    room = 2 * length + (1 << 16)
    at_once = max(1, min(THREADS, data // room))
    read = length + requests.read_twice(length)
    busy = machine.seal_each + length / machine.seal_rate
    seconds = (gets + 1) * store.latency + (read + length) / store.stream + busy
    limits = _limits(at_once, seconds, data // room, machine, read, busy)
    return _slowest(limits, at_once, BESIDE + at_once * room, gets, 1, length, 1, seconds)


def _stream(sort, machine, store, data):
    part = requests.upload_part(sort.length)
    room = requests.AHEAD * (requests.PIECE + part) + part
    at_once = max(1, min(THREADS, data // (2 * requests.AHEAD * requests.PIECE)))
    # Pieces are read and parts are written at the same time.
    reading = requests.PIECE / (store.latency + requests.PIECE / store.stream)
    writing = part / (store.latency + part / store.stream)
    seconds = sort.length / min(requests.AHEAD * reading, requests.AHEAD * writing, machine.seal_rate * machine.cores)
    limits = _limits(at_once, seconds, at_once, machine, sort.length, sort.length / machine.seal_rate)
    gets, puts = sort.length / requests.PIECE, sort.length / part
    return _slowest(limits, at_once, BESIDE + at_once * room, gets, puts, sort.length, 1, seconds)


def _limits(at_once, seconds, room, machine, read, busy):
    """The items in a second that each limit allows; `busy` is how many seconds of a core an item takes."""
    waiting = "memory" if room < THREADS else "32 threads"
    limits = {waiting: at_once / seconds, "cores": machine.cores / busy}
    if read:
        limits["network"] = machine.rate / read
    return limits


def _slowest(limits, at_once, memory, gets, puts, length, each, seconds):
    limit = min(limits, key=limits.get)
    return Pace(limits[limit], limit, at_once, memory, gets, puts, length, each, seconds)


def listing(store):
    """Objects that one command lists in a second. A page of sources and a page of results are read in turns."""
    return requests.PAGE / (2 * store.latency)
