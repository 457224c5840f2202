#!/usr/bin/env python3
"""Opens a sealed file. Writes nothing until all requested data are known to be authentic.

Exit status: 0 opened, 1 refused, 2 called wrongly, 3 no key of a recipient.
"""

import argparse
import json
import sys
from typing import BinaryIO

from sealed import armor, compression, floe, header, keys, metadata, padme, recipients, trailer
from sealed.refusal import NoKey, Refused, require
from sealed.source import Disk, Memory


class OutOfRange(Exception):
    """The file is right, and the range that was asked for is not."""


def main(arguments: list[str] | None = None) -> int:
    asked = parse(arguments)
    try:
        sys.stdout.buffer.write(run(asked))
        sys.stdout.buffer.flush()
    except (Refused, OSError) as why:
        print(f"{asked.file}: {why}", file=sys.stderr)
        return 1
    except OutOfRange as why:
        print(f"{asked.file}: {why}", file=sys.stderr)
        return 2
    except NoKey as why:
        print(f"{asked.file}: {why}", file=sys.stderr)
        return 3
    return 0


def run(asked: argparse.Namespace) -> bytes:
    with open(asked.file, "rb") as file:
        return opened(sealed_bytes(file), asked)


def opened(source: Disk | Memory, asked: argparse.Namespace) -> bytes:
    head = header.read(source)
    file_key = recipients.file_key(head, asked.key, asked.passphrase_file)
    head.verify(file_key)
    about = metadata.open_box(head.box, header.derive(file_key, "deadpan v1 metadata", head.preamble), head.preamble)
    signed = trailer.Trailer(source, head, file_key, about.raw) if head.signed else None
    key = header.derive(file_key, "deadpan v1 payload", head.preamble)
    end = signed.begin if signed else None
    payload = floe.Payload(source, len(head.raw), key, head.preamble, end=end)
    if signed:
        require(payload.segments == signed.segments, "a trailer of another number of segments")
        require(payload.length == signed.statement.length, "a signature of other data")
        payload.check = signed.check
    if asked.signers:
        return signers(signed, asked.key)
    if asked.metadata:
        return json.dumps(about.described()).encode() + b"\n"
    length = padme.unpadded_length(payload) if about.padded else payload.length
    data = payload
    if about.compressed:
        data = compression.Expanded(payload.open_range, length)
        length = data.length
    offset, wanted = asked.range or (0, length)
    if offset + wanted > length:
        raise OutOfRange(f"the range ends after the data, which are {length} bytes long")
    return data.open_range(offset, offset + wanted)


def signers(signed: trailer.Trailer | None, keys: list) -> bytes:
    if signed is None:
        return b"null\n"
    named = any(signed.names(key.kem_id.to_bytes(2, "big") + key.public) for key in keys)
    said = {
        "signers": [{"kind": kind, "key": public.hex()} for kind, public in signed.signers],
        "time": signed.statement.time,
        "recipients": None if signed.statement.salt is None else len(signed.statement.marks),
        "named": named,
    }
    return json.dumps(said).encode() + b"\n"


def sealed_bytes(file: BinaryIO) -> Disk | Memory:
    source = Disk(file)
    if armor.is_armor(source.take(0, min(source.size, armor.WINDOW))):
        return Memory(armor.remove(source.take(0, source.size)))
    return source


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Opens a sealed file and writes its data to standard output.")
    parser.add_argument(
        "--key", type=key_file, action="extend", default=[], help="PKCS#8 in PEM, or a bare seed; may be given again"
    )
    parser.add_argument("--passphrase-file", type=passphrase, help="its first line is the passphrase")
    parser.add_argument("--range", type=byte_range, metavar="OFFSET:LEN", help="only these bytes of the data")
    parser.add_argument("--metadata", action="store_true", help="what was sealed, as JSON, in the place of the data")
    parser.add_argument("--signers", action="store_true", help="who signed, as JSON, in the place of the data")
    parser.add_argument("file")
    return parser.parse_args(arguments)


def content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as why:
        raise argparse.ArgumentTypeError(str(why)) from None


def key_file(path: str) -> list:
    try:
        return keys.read(content(path))
    except ValueError as why:
        raise argparse.ArgumentTypeError(f"{path}: {why}") from None


def passphrase(path: str) -> bytes:
    return content(path).split(b"\n", 1)[0].removesuffix(b"\r")


def byte_range(text: str) -> tuple[int, int]:
    offset, length = (int(number) for number in text.split(":"))
    if offset < 0 or length < 0:
        raise ValueError("a negative number")
    return offset, length


if __name__ == "__main__":
    sys.exit(main())
