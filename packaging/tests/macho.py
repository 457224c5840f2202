"""Reads programs and libraries of macOS. Nothing here can run them, so tests look at what macOS would refuse."""

import hashlib
import struct
from typing import NamedTuple

EXECUTE, DYLIB, BUNDLE = 2, 6, 8
ARM64, PIE = 0x0100000C, 0x200000
SYMTAB, LOAD_DYLIB, ID_DYLIB, CODE_SIGNATURE, DYLD_INFO, BUILD_VERSION = 0x2, 0xC, 0xD, 0x1D, 0x22, 0x32
SYSTEM = ("/usr/lib/", "/System/Library/Frameworks/")


class MachO(NamedTuple):
    """What a program or library says about itself."""

    kind: int
    name: str | None
    libraries: list[str]
    version: tuple[int, int]
    # The functions that others can use.
    exported: set[str]
    # The functions that the process must have, from any of its libraries.
    wanted: set[str]


def text(data, start):
    """Returns the text that ends with a zero byte."""
    return data[start:data.index(b"\0", start)].decode()


def check_signature(data, start):
    """Checks the hash of each page: on ARM, macOS runs nothing without them."""
    magic, _, count = struct.unpack_from(">III", data, start)
    assert magic == 0xFADE0CC0, "the signature is no signature"
    places = [struct.unpack_from(">II", data, start + 12 + 8 * index) for index in range(count)]
    directory = start + next(offset for slot, offset in places if slot == 0)
    magic, _, _, _, hashes, _, _, pages, limit = struct.unpack_from(">IIIIIIIII", data, directory)
    size, kind, _, exponent = struct.unpack_from("BBBB", data, directory + 36)
    assert (magic, size, kind) == (0xFADE0C02, 32, 2), "the signature has no SHA-256"
    assert limit == start, "the signature does not cover the file"
    length = 1 << exponent
    assert pages == -(-limit // length) > 0, f"the signature has {pages} pages"
    for page in range(pages):
        place = directory + hashes + page * size
        digest = hashlib.sha256(data[page * length:min((page + 1) * length, limit)]).digest()
        assert data[place:place + size] == digest, f"the signature does not fit page {page}"


def exports(data, place, count, strings):
    """Returns the names that others can use."""
    entries = (struct.unpack_from("<IBBHQ", data, place + 16 * index) for index in range(count))
    return {text(data, strings + name) for name, kind, *_ in entries if kind & 0xE1 == 1 and kind & 0x0E}


def number(data, place):
    """Reads a number of seven bits in each byte. Returns it and the place behind it."""
    value = shift = 0
    while True:
        value |= (data[place] & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if not data[place - 1] & 0x80:
            return value, place


def from_anywhere(data, place, length, lazy):
    """Reads how the loader finds names. Returns those that it takes from any library of the process."""
    end, anywhere, name, found = place + length, False, None, set()
    while place < end:
        code, small = data[place] & 0xF0, data[place] & 0x0F
        place += 1
        if code == 0x00 and not lazy:
            break
        if code == 0x10:
            anywhere = False
        elif code == 0x20:
            _, place = number(data, place)
            anywhere = False
        elif code == 0x30:
            # This number names no library: the loader looks in the program, or in all libraries of the process.
            anywhere = True
        elif code == 0x40:
            name = text(data, place)
            place += len(name) + 1
        elif code in (0x60, 0x70, 0x80):
            _, place = number(data, place)
        elif code in (0x90, 0xA0, 0xB0, 0xC0):
            for _ in range({0xA0: 1, 0xC0: 2}.get(code, 0)):
                _, place = number(data, place)
            if anywhere:
                found.add(name)
        else:
            assert code in (0x00, 0x50), f"unknown code {code | small:#x}"
    return found


def read(data):
    """Checks what every program and library needs, and returns the rest."""
    magic, processor, _, kind, commands, _, flags, _ = struct.unpack_from("<IIIIIIII", data)
    assert (magic, processor) == (0xFEEDFACF, ARM64), "nothing for macOS on ARM"
    assert kind != EXECUTE or flags & PIE, "the program lies at a fixed address"
    offset, name, libraries, version, table, binds, signed = 32, None, [], None, None, None, False
    for _ in range(commands):
        command, length = struct.unpack_from("<II", data, offset)
        command &= 0x7FFFFFFF
        if command == LOAD_DYLIB:
            libraries.append(text(data, offset + struct.unpack_from("<I", data, offset + 8)[0]))
        elif command == ID_DYLIB:
            name = text(data, offset + struct.unpack_from("<I", data, offset + 8)[0])
        elif command == BUILD_VERSION:
            platform, least = struct.unpack_from("<II", data, offset + 8)
            assert platform == 1, f"for platform {platform}, which is not macOS"
            version = least >> 16, least >> 8 & 0xFF
        elif command == SYMTAB:
            table = struct.unpack_from("<III", data, offset + 8)
        elif command == DYLD_INFO:
            binds = struct.unpack_from("<10I", data, offset + 8)
        elif command == CODE_SIGNATURE:
            check_signature(data, struct.unpack_from("<I", data, offset + 8)[0])
            signed = True
        offset += length
    assert signed, "no signature, which macOS asks for"
    assert version and version <= (11, 0), f"needs macOS {version}: the first one for ARM is 11"
    strange = [library for library in libraries if not library.startswith(SYSTEM)]
    assert libraries and not strange, f"loads {strange}"
    assert binds, "nothing says how names are found"
    wanted = from_anywhere(data, *binds[2:4], lazy=False) | from_anywhere(data, *binds[6:8], lazy=True)
    return MachO(kind, name, libraries, version, exports(data, *table), wanted)
