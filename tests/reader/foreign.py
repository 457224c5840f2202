"""Files that the program does not write: at the edge of what docs/format-seal.md allows, and just past it.

All are sealed to one key (`PEM`) under a MAC that is right, so that nothing but the rule in question decides.
"""

import base64
import secrets
import struct
from collections.abc import Iterator

import zstandard

import forms
import writer
from sealed.compression import FRAME
from sealed.hpke import X25519
from writer import Payload, metadata, number, recipient, to_group, to_key, to_passphrase, to_session

SEED = bytes([7]) * 32
PEM = b"-----BEGIN PRIVATE KEY-----\n%s-----END PRIVATE KEY-----\n" % base64.encodebytes(
    bytes.fromhex("302e020100300506032b656e04220420") + SEED
)
KEY = secrets.token_bytes(32)
STEP = 4096 - 32


def mine(file_key: bytes = KEY, **how) -> bytes:
    return to_key(0x0020, X25519(SEED).public, file_key, **how)


def seal(data: bytes = b"data", recipients=None, about=None, payload=None, **header) -> bytes:
    about = metadata() if about is None else about
    return writer.header(KEY, recipients or [mine()], about, **header) + (payload or Payload(4096)).seal(KEY, data)


def random(length: int) -> bytes:
    """Data whose pieces all differ."""
    return secrets.token_bytes(length)


def files() -> Iterator[tuple[str, bytes]]:
    yield from headers()
    yield from thresholds()
    yield from passphrases()
    yield from boxes()
    yield from payloads()
    yield from compressed()
    yield from armored()


def headers() -> Iterator[tuple[str, bytes]]:
    room = (1 << 20) - len(writer.header(KEY, [mine()], metadata()))
    yield "slack", seal(slack=bytes(5000))
    yield "slack that is not zero", seal(slack=bytes(4999) + b"\1")
    yield "the longest header", seal(slack=bytes(room))
    yield "a header too long", seal(slack=bytes(room + 1))
    yield "the same recipient twice", seal(recipients=[mine(), mine()])
    yield "a wrong file key before the right one", seal(recipients=[mine(bytes(32)), mine()])
    yield "a wrong file key after the right one", seal(recipients=[mine(), mine(bytes(32))])
    yield "another purpose", seal(recipients=[mine(info=b"deadpan v2 recipient" + writer.P)])
    yield "another preamble", seal(recipients=[mine(info=writer.INFO[:-1] + b"\1")])
    yield "no preamble", seal(recipients=[mine(info=b"deadpan v1 recipient")])
    yield "an unknown type", seal(recipients=[recipient(0x0021, bytes(80)), mine()])
    yield "a body too long", seal(recipients=[recipient(0x0020, bytes(81)), mine()])
    yield "somebody's point that is on no curve", seal(recipients=[recipient(0x0010, bytes(113)), mine()])
    yield "somebody's point of small order", seal(recipients=[recipient(0x0020, bytes(80)), mine()])
    for count in (0, 1, 3, 65535):
        yield f"two recipients, counted {count}", seal(recipients=[mine(), mine()], count=count)


def thresholds() -> Iterator[tuple[str, bytes]]:
    me, other = (0x0020, X25519(SEED).public), (0x0020, X25519(bytes([8]) * 32).public)
    good = to_group(2, [me, other, me], KEY)
    yield "a key with two shares of the two that are needed", seal(recipients=good)
    yield "all of 255 shares", seal(recipients=to_group(255, [me] * 255, KEY))
    yield "one share of two", seal(recipients=to_group(2, [me, other], KEY))
    yield "shares of another file key", seal(recipients=to_group(2, [me, me], bytes(32)))
    yield "a recipient before shares", seal(recipients=[mine(), *good])
    yield "a recipient after shares of others", seal(recipients=[*to_group(2, [other, other], KEY), mine()])
    yield "a recipient between shares", seal(recipients=[good[0], mine(), *good[1:]])
    yield "a wrong file key after shares", seal(recipients=[*good, mine(bytes(32))])
    yield "a missing share", seal(recipients=good[:2])
    yield "shares in another order", seal(recipients=[good[0], good[2], good[1]])
    yield "a share twice", seal(recipients=[*good, good[2]])
    yield "two groups", seal(recipients=[*good, *good])
    yield "shares of two groups", seal(recipients=[*good[:2], to_group(2, [me, other, me], KEY)[2]])
    first, last = good[0][:73] + good[2][73:], good[2][:73] + good[0][73:]
    yield "shares in each other's place", seal(recipients=[first, good[1], last])
    for name, place, value in (
        ("no share needed", 4, 0),
        ("one share needed", 4, 1),
        ("more shares needed than there are", 4, 4),
        ("fewer shares than there are", 5, 2),
        ("more shares than there are", 5, 4),
        ("a share with number 0", 6, 0),
        ("a share with a number too high", 6, 4),
        ("a share for an unknown kind of key", 8, 0x21),
        ("a share for a passphrase", 7, 0xFF),
        ("another check of the file key", 9, good[0][9] ^ 1),
        ("another check of the share", 41, good[0][41] ^ 1),
    ):
        changed = [entry[:place] + number(value, 1) + entry[place + 1 :] for entry in good]
        yield f"{name}, in all shares", seal(recipients=changed)
        yield f"{name}, in one share", seal(recipients=[good[0], good[1], changed[2]])


def passphrases() -> Iterator[tuple[str, bytes]]:
    good = to_passphrase(b"p", KEY, 16, 1, 2)
    yield "a passphrase beside a key", seal(recipients=[good, mine()])
    yield "two passphrases", seal(recipients=[good, good, mine()])
    item = to_session(b"p", bytes(16), KEY, 16, 1, 2)
    yield "a session's passphrase beside a key", seal(recipients=[item, mine()])
    yield "a passphrase and a session's", seal(recipients=[good, item, mine()])
    yield "a session's passphrase at too many passes", seal(recipients=[mine(), item[:8] + number(65, 4) + item[12:]])
    edges = [(16, 1, 2), (15, 1, 2), (16, 0, 2), (16, 64, 2), (16, 65, 2), (512, 1, 64), (520, 1, 65), (16, 1, 0)]
    edges += [
        (1 << 22, 1, 1),
        (1 << 22, 4, 1),
        (1 << 22, 5, 1),
        ((1 << 22) + 1, 1, 1),
        (1 << 18, 64, 1),
        ((1 << 18) + 1, 64, 1),
    ]
    for m, t, p in edges:
        # The recipient that the key opens comes first, so that no reader hashes the passphrase.
        cost = number(m, 4) + number(t, 4) + number(p, 4)
        yield f"a passphrase at {m} KiB, {t} passes, {p} lanes", seal(recipients=[mine(), good[:4] + cost + good[16:]])


def boxes() -> Iterator[tuple[str, bytes]]:
    for size in (512, 4352, 4608, 8192):
        yield f"a box of {size} without need", seal(about=metadata(size=size))
    for kind in (1, 2, 3):
        yield f"kind {kind} without a name", seal(about=metadata(kind))
    yield "bytes with a name", seal(about=metadata(0, 0, (5, 6), 0o644, b"x"))
    yield "an unknown padding", seal(about=metadata(0, 2))
    yield "an unknown field", seal(about=b"\0\0\x10".ljust(256, b"\0"))
    yield "something after the fields", seal(about=metadata()[:-1] + b"\1")
    for time in ((-(2**63), 0), (2**63 - 1, 999_999_999), (0, 10**9)):
        yield f"time {time}", seal(about=metadata(time=time))
    for mode in (0o7777, 0o10000):
        yield f"mode {mode:o}", seal(about=metadata(mode=mode))
    names = [
        b"",
        b".",
        b"..",
        b"...",
        b"a/b",
        b"a\\b",
        b"a\0b",
        b"\xff\xfe",
        b"a\nb",
        b"a:b",
        b" ",
        b"x" * 4096,
        b"x" * 4097,
    ]
    for name in names:
        yield f"name {name[:4]!r}, {len(name)} bytes", seal(about=metadata(1, name=name))


def payloads() -> Iterator[tuple[str, bytes]]:
    for segment in (4095, 4096, 4097, 1 << 24, (1 << 24) + 1):
        for length in (segment - 33, segment - 32, segment - 31, 3 * segment + 5, 9000):
            if length < 1 << 20 or length == segment - 31:
                yield f"{length} bytes in segments of {segment}", seal(random(length), payload=Payload(segment))
    for segment in (4096, 4097, 4128, 5000, 8224, 1 << 20):
        step = segment - 32
        for count in (1, 2, 130) if step < 10_000 else (1, 5):
            yield f"{count} full segments of {segment}", seal(random(count * step), payload=Payload(segment))
            yield (
                f"{count} full segments of {segment}, an empty one",
                seal(random(count * step), payload=Payload(segment, empty_last=True)),
            )
        # The data are so long that several threads work on them, and the part of a thread can begin and end at any
        # segment.
        hidden = writer.padded(random(9_000_001))
        yield (
            f"many segments of {segment}, length hidden",
            seal(hidden, about=metadata(padding=1), payload=Payload(segment)),
        )
    yield "another aad", seal(payload=Payload(4096, aad=writer.P[:9] + b"\1"))
    sealed = seal(random(3 * STEP + 7))
    yield "a segment left out", sealed[: -2 * 4096 - 39] + sealed[-4096 - 39 :]
    for cut in (1, 38, 39, 40, 4096, 4096 + 39):
        yield f"{cut} bytes cut off", sealed[:-cut]
    for more in (1, 32, 4096):
        yield f"{more} bytes more", sealed + bytes(more)

    hidden = metadata(padding=1)
    long = writer.padded(random(20 * STEP))
    datas = {
        "over many segments": long,
        "of no bytes": b"",
        "of zeros": bytes(104),
        "of 80": b"\x80",
        "of 80 00": b"\x80\0",
    }
    datas["behind zeros"] = writer.padded(random(50) + bytes(3 * STEP))
    datas |= {
        "one byte too long": long + b"\0",
        "one byte too short": long[:-1],
        "segments too long": long + bytes(3 * STEP),
    }
    for name, data in datas.items():
        yield f"padding {name}", seal(data, about=hidden)


def with_table(frames: list[tuple[bytes, int]], foot: bytes = b"\0\xb1\xea\x92\x8f", count: int | None = None) -> bytes:
    """Frames with the lengths of their data, and the table after them."""
    lines = b"".join(struct.pack("<II", len(frame), length) for frame, length in frames)
    head = b"\x5e\x2a\x4d\x18" + struct.pack("<I", len(lines) + 9)
    foot = struct.pack("<I", len(frames) if count is None else count) + foot
    return b"".join(frame for frame, _ in frames) + head + lines + foot


def frame(stated: int, blocks: list[tuple[int, int, bytes]], descriptor: int = 0xA0, window: bytes = b"") -> bytes:
    """A frame with blocks of these types, sizes and bytes."""
    made = b"\x28\xb5\x2f\xfd" + bytes([descriptor]) + window + struct.pack("<I", stated)
    for place, (kind, size, content) in enumerate(blocks):
        made += struct.pack("<I", size << 3 | kind << 1 | (place == len(blocks) - 1))[:3] + content
    return made


def compressed() -> Iterator[tuple[str, bytes]]:
    about = metadata(compression=1)
    press = zstandard.ZstdCompressor(level=5, write_content_size=True, write_checksum=False).compress
    text = b"a line of a log, " * 250_000
    whole = [(press(text[:FRAME]), FRAME), (press(text[FRAME:]), len(text) - FRAME)]
    good, tail = with_table(whole), whole[1][1]
    short = frame(3, [(0, 3, b"abc")])
    summed = zstandard.ZstdCompressor(write_content_size=True, write_checksum=True).compress(text[:1000])
    unknown = zstandard.ZstdCompressor(write_content_size=False).compress(text[:1000])
    datas = {
        "of no bytes": with_table([]),
        "in frames of another writer": good,
        "in blocks of each kind": with_table([(frame(5, [(1, 4, b"x"), (0, 1, b"y")]), 5)]),
        "with a window": with_table([(frame(3, [(0, 3, b"abc")], 0x80, b"\x58"), 3)]),
        "with a window too wide": with_table([(frame(3, [(0, 3, b"abc")], 0x80, b"\x68"), 3)]),
        "without a table": whole[0][0],
        "nothing at all": b"",
        "plain": b"data that were not compressed at all",
        "one byte less": good[:-1],
        "one byte more": good + b"\0",
        "a frame too many": with_table(whole)[: -17 - 16] + short + good[-17 - 16 :],
        "a frame too few": with_table(whole[:1])[:-9] + good[-9:],
        "a table of another magic": with_table(whole, foot=b"\0\xb1\xea\x92\x8e"),
        "a table with checksums": with_table(whole, foot=b"\x80\xb1\xea\x92\x8f"),
        "a table of another count": with_table(whole, count=1),
        "a table of a huge count": with_table(whole, count=(1 << 32) - 1),
        "frames out of order": with_table([whole[1], whole[0]]),
        "a table that lies": with_table([(whole[0][0], FRAME), (whole[1][0], tail - 1)]),
        "a short frame first": with_table([(short, 3), (short, 3)]),
        "an empty frame": with_table([(frame(0, [(0, 0, b"")]), 0)]),
        "a frame too long": with_table([(press(text[: FRAME + 1]), FRAME + 1)]),
        "a bomb": with_table([(frame(1000, [(1, 1 << 17, b"x")] * 99), 1000)]),
        "a block too long": with_table([(frame(FRAME, [(1, (1 << 17) + 1, b"x")]), FRAME)]),
        "blocks without end": with_table([(frame(10, [(0, 0, b"")] * 100), 10)]),
        "a frame that is too short": with_table([(frame(4, [(0, 3, b"abc")]), 4)]),
        "a checksum": with_table([(summed, 1000)]),
        "no stated length": with_table([(unknown, 1000)]),
        "a dictionary": with_table([(frame(3, [(0, 3, b"abc")], 0xA1, b"\x07"), 3)]),
        "a reserved bit": with_table([(frame(3, [(0, 3, b"abc")], 0xA8), 3)]),
        "a skippable frame": with_table([(b"\x50\x2a\x4d\x18\3\0\0\0abc", 3)]),
    }
    for name, data in datas.items():
        yield f"compressed data {name}", seal(data, about=about, payload=Payload(1 << 16))
    hidden = metadata(padding=1, compression=1)
    yield "compressed data, length hidden", seal(writer.padded(good), about=hidden, payload=Payload(1 << 16))
    yield "an unknown compression", seal(good, about=metadata(compression=2))
    yield "compressed data with a name", seal(good, about=metadata(1, 0, (5, 6), 0o644, b"x", compression=1))


def armored() -> Iterator[tuple[str, bytes]]:
    for length in range(3):
        sealed = seal(random(1000 + length))
        for made in (forms.permitted, forms.refused):
            for name, text in made(sealed):
                yield f"armor of {len(sealed)} bytes: {name}", text.encode()
