"""How fast one machine and one store are, and which of their limits counts."""

from dataclasses import dataclass

import requests
from requests import BESIDE, CARRIERS, THREADS


@dataclass(frozen=True)
class Machine:
    cores: int
    # Bytes in a second, in each direction.
    rate: float
    memory: int
    # Bytes that a core seals and hashes in a second, and seconds of a core for an object beside its bytes.
    seal_rate: float
    seal_each: float
    # Bytes that a thread of the connections receives and sends in a second, with their encryption.
    wire_rate: float


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


def pace(sort, machine, store, shares=1):
    data = machine.memory - BESIDE
    if sort.length < requests.long_from(machine.memory):
        return _short(sort, machine, store, data)
    return _divided(sort, machine, store, data, shares) if store.in_parts else _stream(sort, machine, store, data)


def _short(sort, machine, store, data):
    length, room = sort.length, 3 * sort.length + (1 << 19)
    at_once = max(1, min(THREADS, data // room))
    busy = machine.seal_each + length / machine.seal_rate
    seconds = 2 * store.latency + 2 * length / store.stream + busy
    gets = requests.short(sort)["GET"]
    seconds += (gets - 1) * store.latency
    limits = _limits(machine, length, busy)
    limits["32 threads" if data // room >= THREADS else "memory"] = at_once / seconds
    return _slowest(limits, at_once, BESIDE + at_once * room, gets, 1, length, 1, seconds)


def _divided(sort, machine, store, data, shares):
    count, begin = requests.part_count(sort.length), requests.beginning(sort, shares)
    length = min(requests.part_length(sort.length), requests.quotient(sort.length, count))
    one = requests.divided(sort, shares)
    busy = length / machine.seal_rate
    seconds = 2 * store.latency + 2 * length / store.stream + busy
    # All other requests for an object are sent one after another, by threads that make no part meanwhile.
    others = store.latency * (sum(one.values()) - 2 * count) / count
    at_once = max(1, min(THREADS, data // (2 * length)))
    limits = _limits(machine, length, busy)
    limits["32 threads"] = THREADS / (seconds + others)
    if at_once < THREADS:
        limits["memory"] = at_once / seconds
    # The sources, the results and the state have prefixes of their own.
    gets = max(count + begin + 1, one["LISTPARTS"] + begin + 1) / count
    puts = (count + one["CREATE"] + one["COMPLETE"]) / count
    return _slowest(limits, at_once, BESIDE + at_once * 2 * length, gets, puts, length, count, seconds)


def _stream(sort, machine, store, data):
    part = requests.upload_part(sort.length)
    room = requests.AHEAD * (requests.PIECE + part) + part
    reserved = requests.AHEAD * (max(sort.length // requests.PARTS, requests.UPLOAD_PART) + requests.PIECE)
    at_once = max(1, min(THREADS, data // reserved))
    # Pieces are read and parts are written at the same time.
    reading = requests.PIECE / (store.latency + requests.PIECE / store.stream)
    writing = part / (store.latency + part / store.stream)
    # All cores seal one object.
    seconds = sort.length / min(requests.AHEAD * reading, requests.AHEAD * writing, machine.seal_rate * machine.cores)
    limits = _limits(machine, sort.length, sort.length / machine.seal_rate)
    limits["32 threads" if data // reserved >= THREADS else "memory"] = at_once / seconds
    gets, puts = sort.length / requests.PIECE, sort.length / part
    return _slowest(limits, at_once, BESIDE + at_once * room, gets, puts, sort.length, 1, seconds)


def _limits(machine, length, busy):
    """The items in a second that each part of the machine allows. An item takes a core for so many seconds."""
    limits = {"cores": machine.cores / (busy + length / machine.wire_rate)}
    if length:
        limits["2 connection threads"] = CARRIERS * machine.wire_rate / length
        limits["network"] = machine.rate / length
    return limits


def _slowest(limits, at_once, memory, gets, puts, length, each, seconds):
    limit = min(limits, key=limits.get)
    return Pace(limits[limit], limit, at_once, memory, gets, puts, length, each, seconds)


def listing(store):
    """Objects that one command lists in a second. A page of sources and a page of results are read in turns."""
    return requests.PAGE / (2 * store.latency)
