#!/usr/bin/env python3
"""Checks the program against a reader: `check.py BINARY [--reader COMMAND …]`.

COMMAND is another reader than the one in Python; `readers.Other` says what it has to do. Prints one line for each case.
The exit status is 1 if a case failed.
"""

import json
import os
import secrets
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

from cryptography.exceptions import InvalidTag

import foreign
import frozen
import package
import readers
import writer
from program import MODES, Program
from sealed import header, keys, recipients
from sealed.recovery import Recovery
from sealed.refusal import Refused
from sealed.source import Memory

STEP = 262144 - 32
SIZES = [0, 1, STEP - 1, STEP, STEP + 1, 2 * STEP, 4 * STEP, 4 * STEP + 1, 3 << 20]
READERS = {
    "X25519": "X25519",
    "P-256": "P256Key",
    "ML-KEM-768": "MlKem768",
    "ML-KEM-1024": "MlKem1024",
    "MLKEM768-P256": "MlKem768P256",
    "X-Wing": "XWing",
}
CHEAP = "X-Wing"


class Check:
    def __init__(self, program: Program, folder: Path, reader: readers.Own | readers.Other):
        self.program, self.folder, self.reader = program, folder, reader
        self.passed = self.failed = 0
        self.keys: dict[str, tuple[Path, Path]] = {}

    def case(self, name: str, what, *arguments, **options):
        try:
            what(*arguments, **options)
        except Exception:  # a failed case does not end the others
            self.failed += 1
            print(f"FAILED  {name}\n{traceback.format_exc()}", flush=True)
        else:
            self.passed += 1
            print(f"ok      {name}", flush=True)

    # Cases

    def all(self):
        for kind in MODES:
            self.case(f"key: {kind}", self.make_key, kind)
        for kind in MODES:
            self.case(f"one recipient: {kind}", self.one_recipient, kind)
        for kind in MODES:
            if kind != "MLKEM768-P256":  # the package's HPKE lacks it
                if self.reader.own:
                    self.case(
                        f"the HPKE of PyPI's cryptography opens what the program sealed: {kind}",
                        self.theirs_opens_ours,
                        kind,
                    )
                self.case(
                    f"the program and the reader open what the HPKE of PyPI's cryptography sealed: {kind}",
                    self.ours_opens_theirs,
                    kind,
                )
        self.case("several recipients", self.several_recipients)
        self.case("any 2 of 3 keys", self.threshold)
        self.case("passphrase", self.passphrase)
        self.case("forms of a passphrase", self.forms)
        for size in SIZES:
            for options, how in ([], ""), (["--hide-length"], ", length hidden"), (["--compress"], ", compressed"):
                self.case(f"{size} bytes{how}", self.roundtrip, size, options)
                self.case(f"{size} bytes from a pipe{how}", self.roundtrip, size, options, pipe=True)
        self.case("armor", self.armor)
        self.case("ranges", self.ranges)
        self.case("ranges, length hidden", self.ranges, ["--hide-length"])
        self.case("ranges, compressed, length hidden", self.ranges, ["--compress", "--hide-length"])
        for mode in ("ecc", "pqc", "hybrid"):
            self.case(f"signed: {mode}", self.signed, mode)
        for size in (0, 1, 512, 5000, 60_000, 1_100_000) if self.reader.own else ():
            self.case(f"recovery data of {size} bytes", self.recovery, size)
        kept = list(frozen.cases())
        expect(len(kept) > 20, True, "commands in tests/frozen")
        for file, options, data in kept:
            self.case(f"the reader opens {file.relative_to(frozen.FROZEN)}", self.frozen, file, options, data)
        self.file("foreign.key", foreign.PEM)
        for name, sealed in foreign.files():
            self.case(f"both agree: {name}", self.both_agree, sealed)

    def make_key(self, kind: str):
        private = self.folder / f"{kind}.key"
        self.keys[kind] = private, self.program.keygen(kind, private)
        (key,) = keys.read(private.read_bytes())
        expect(type(key).__name__, READERS[kind])

    def one_recipient(self, kind: str):
        private, public = self.keys[kind]
        data, sealed = self.seal(1000, public=[public])
        self.opens(sealed, data, "--key", private)
        self.refuses_damage(sealed, "--key", private)
        stranger = self.keys["P-256" if kind == "X25519" else "X25519"][0]
        expect(self.reader.read("--key", stranger, sealed).returncode, 3)

    def theirs_opens_ours(self, kind: str):
        private, public = self.keys[kind]
        _, sealed = self.seal(1000, public=[public])
        (key,) = keys.read(private.read_bytes())
        head = header.read(Memory(sealed.read_bytes()))
        ((number, body),) = head.recipients
        expect(number, key.kem_id)
        head.verify(package.open(key, body, writer.INFO))
        for info in (b"", b"deadpan v1 recipient", writer.INFO + b"\0"):
            try:
                package.open(key, body, info)
            except InvalidTag:
                continue
            raise AssertionError(f"the recipient opens for another purpose: {info!r}")

    def ours_opens_theirs(self, kind: str):
        private, _ = self.keys[kind]
        (key,) = keys.read(private.read_bytes())
        body = package.seal(key.kem_id, key.public, foreign.KEY, writer.INFO)
        sealed = self.file("theirs", foreign.seal(b"data", recipients=[writer.recipient(key.kem_id, body)]))
        for opened in (self.program.open(private, sealed), self.reader.read("--key", private, sealed)):
            expect((opened.returncode, opened.stdout), (0, b"data"), opened.stderr.decode())

    def several_recipients(self):
        passphrase = self.file("passphrase", b"correct horse\n")
        modern = [kind for kind in MODES if kind not in ("X25519", "P-256")]
        # The program seals to a classical recipient together with other recipients only if an option allows this.
        for kinds, who, options in (
            (modern, passphrase, []),
            (["X25519", "P-256"], None, []),
            (list(MODES), None, ["--mode", "ecc"]),
        ):
            data, sealed = self.seal(
                1000, public=[self.keys[kind][1] for kind in kinds], passphrase=who, options=options
            )
            for kind in kinds:
                self.opens(sealed, data, "--key", self.keys[kind][0])
                self.refuses_damage(sealed, "--key", self.keys[kind][0])

    def threshold(self):
        members = [self.keys[kind] for kind in ("X-Wing", "ML-KEM-768", "MLKEM768-P256")]
        data, sealed = self.seal(1000, public=[public for _, public in members], options=["--any", "2"])
        for first, second in ((0, 1), (0, 2), (2, 1)):
            pair = ("--key", members[first][0], "--key", members[second][0])
            self.opens(sealed, data, *pair)
            self.refuses_damage(sealed, *pair)
        for private, _ in members:
            expect(self.reader.read("--key", private, sealed).returncode, 3)

    def passphrase(self):
        passphrase = self.file("passphrase", b"correct horse\n")
        data, sealed = self.seal(1000, passphrase=passphrase)
        self.opens(sealed, data, "--passphrase-file", passphrase)
        self.refuses_damage(sealed, "--passphrase-file", passphrase)
        wrong = self.file("wrong", b"correct horse \n")
        expect(self.reader.read("--passphrase-file", wrong, sealed).returncode, 3)

    def forms(self):
        """Seals with a passphrase in one Unicode form and opens with another, in both directions."""
        composed, decomposed, mixed = (
            text.encode() for text in ("\u1e69\u00e9", "s\u0323\u0307e\u0301", "s\u0307\u0323\u00e9")
        )
        for typed in (composed, decomposed, mixed):
            data, sealed = self.seal(10, passphrase=self.file("passphrase", typed + b"\n"))
            # In other readers, a try at the program's cost may take seconds.
            for other in (composed, decomposed, mixed) if self.reader.own else (typed,):
                self.opens(sealed, data, "--passphrase-file", self.file("passphrase", other + b"\n"))
            # The program seals to the NFC form (Unicode normalization), so a reader that does not normalize opens the
            # file with the NFC bytes.
            head = header.read(Memory(sealed.read_bytes()))
            ((kind, body),) = head.recipients
            head.verify(recipients.with_bytes(kind, body, composed))
            # Another program may seal a file to the bytes of the passphrase as they were typed.
            raw = writer.to_passphrase(typed, foreign.KEY)
            sealed = self.file("foreign", foreign.seal(b"data", recipients=[raw]))
            for other in (composed, decomposed, mixed):
                found = self.reader.read("--passphrase-file", self.file("passphrase", other + b"\n"), sealed)
                theirs = self.program.open_with(self.folder / "passphrase", sealed)
                expect(theirs.returncode, found.returncode, theirs.stderr.decode())
                expect(found.returncode, 0 if other == typed or mixed != typed else 3)

    def roundtrip(self, size: int, options=(), pipe: bool = False):
        private, public = self.keys[CHEAP]
        data, sealed = self.seal(size, public=[public], options=options, pipe=pipe)
        self.opens(sealed, data, "--key", private)
        about = json.loads(self.reader.read("--metadata", "--key", private, sealed).stdout)
        expect(about["padded"], "--hide-length" in options)
        if pipe:
            compressed = {"compressed": True} if "--compress" in options else {}
            expect(about, {"kind": "bytes", "padded": "--hide-length" in options, **compressed})
        else:
            known = data.stat()
            expect(about["kind"], "file")
            expect(about["name"], data.name)
            expect(about["mode"], known.st_mode & 0o7777)
            expect(about["seconds"] * 10**9 + about["nanoseconds"], known.st_mtime_ns)
        self.refuses_damage(sealed, "--key", private)

    def armor(self):
        private, public = self.keys[CHEAP]
        for size in (0, 1, 2, 3, 1000, STEP + 1):
            data, sealed = self.seal(size, public=[public], options=["--armor"])
            self.opens(sealed, data, "--key", private)
            self.refuses_damage(sealed, "--key", private)

    def ranges(self, options=()):
        private, public = self.keys[CHEAP]
        data, sealed = self.seal(3 << 20, public=[public], options=options)
        whole = data.read_bytes()
        places = (0, 1, STEP - 1, STEP, 5 * STEP + 3, len(whole) - 1, len(whole), len(whole) + 1)
        for start in places:
            for end in (start, *(place for place in places if place > start)):
                asked = "--range", f"{start}:{end - start}"
                found = self.reader.read(*asked, "--key", private, sealed)
                theirs = self.program.open(private, sealed, asked)
                expect(
                    (found.returncode, found.stdout) == (theirs.returncode, theirs.stdout),
                    True,
                    f"from {start} to {end}",
                )
                expect(found.returncode, 0 if end <= len(whole) else 2)
                if end <= len(whole):
                    expect(found.stdout == whole[start:end], True)

    def signed(self, mode: str):
        private, public = self.keys[CHEAP]
        signer = self.folder / f"sign-{mode}.key"
        self.program.signing_key(mode, signer)
        for size in (0, 1000, STEP, 2 * STEP + 1):
            for options in ([], ["--for-anyone"], ["--hide-length"], ["--compress"], ["--armor"]):
                data, sealed = self.seal(size, public=[public], options=[f"--sign={signer}", *options])
                self.opens(sealed, data, "--key", private)
                self.refuses_damage(sealed, "--key", private)
                said = json.loads(self.reader.read("--signers", "--key", private, sealed).stdout)
                anyone = "--for-anyone" in options
                expect((len(said["signers"]), said["recipients"]), (1, None if anyone else 1))
                expect(said["named"], not anyone)
        self.refuses_others_trailers(sealed, public, signer)

    def refuses_others_trailers(self, sealed: Path, public: Path, signer: Path):
        """A trailer of the same data that were sealed again belongs to another file."""
        both = []
        for _ in range(2):
            _, sealed = self.seal(1000, public=[public], options=[f"--sign={signer}"])
            both.append(sealed.read_bytes())
        end = 32 + 28 + 4096 + 28 + 44
        # The numbers in the footer: the number of segments, which is 1, and the length of the box.
        numbers = both[0][-44:-32]
        expect(both[1][-44:-32], numbers)
        end = 32 + 28 + int.from_bytes(numbers[8:], "big") + 44
        other = self.file("changed", both[0][:-end] + both[1][-end:])
        expect(self.reader.read("--key", self.keys[CHEAP][0], other).returncode, 1)

    def recovery(self, size: int):
        """Both repair the same damage, and refuse what is too much."""
        data = secrets.token_bytes(size)
        file, output = self.file("data", data), self.folder / "repaired"
        for percent in (1, 10, 50):
            self.program.run("repair", "make", "--force", "--percent", percent, file)
            sidecar = (self.folder / "data.dpr").read_bytes()
            recovery = Recovery(sidecar)
            expect((recovery.shift, recovery.hash_of(data), recovery.missing(data)), (0, recovery.hash, []))
            # A burst in the file, of up to the percentage, and one in the first table.
            lost = min(max(size * percent // 200, 1), 3000) if size else 0
            begin = secrets.randbelow(size - lost + 1)
            damaged = data[:begin] + bytes(byte ^ 0x5A for byte in data[begin : begin + lost]) + data[begin + lost :]
            table = recovery.block + 10
            spoiled = sidecar[:table] + bytes(400) + sidecar[table + 400 :]
            self.file("data", damaged)
            for beside in (sidecar, spoiled):
                self.file("data.dpr", beside)
                expect(Recovery(beside).repair(damaged) == data, True, "the reader's result")
                self.program.run("repair", "fix", "--force", "-o", output, file)
                if size:
                    expect(output.read_bytes() == data, True, "the program's result")
            self.file("data", data)
        if size < 5000:
            return
        damaged = bytes(size // 2 + 3000) + data[size // 2 + 3000 :]
        expect(self.program.start("repair", "fix", "--force", "-o", output, self.file("data", damaged)).returncode, 1)
        try:
            Recovery(sidecar).repair(damaged)
        except Refused:
            return
        raise AssertionError("the reader has repaired more than there was recovery data for")

    def frozen(self, file: Path, options: list, data: bytes):
        found = self.reader.read(*options, file)
        expect((found.returncode, found.stdout), (0, data), found.stderr.decode())

    def both_agree(self, content: bytes):
        """The program and the reader give the same answer for a file that the program does not write."""
        private, sealed = self.folder / "foreign.key", self.file("foreign", content)
        found, theirs = self.reader.read("--key", private, sealed), self.program.open(private, sealed)
        expect(found.returncode, theirs.returncode, f"{found.stderr!r} {theirs.stderr!r}")
        if found.returncode == 0:
            expect(found.stdout == theirs.stdout, True, "the data differ")
        # The program does not open a sealed folder into a file.
        about = self.reader.read("--metadata", "--key", private, sealed)
        if found.returncode != 0 or json.loads(about.stdout)["kind"] != "folder":
            self.into_a_file(private, sealed, found)

    def into_a_file(self, private: Path, sealed: Path, wanted: subprocess.CompletedProcess):
        """Opens into a file, which the program writes at positions, and on several threads if it is long."""
        output = self.folder / "opened"
        output.unlink(missing_ok=True)
        theirs = self.program.open_to(private, sealed, output)
        expect(theirs.returncode, wanted.returncode, f"{theirs.stderr!r} {wanted.stderr!r}")
        expect(output.exists(), wanted.returncode == 0, "whether there is an output")
        if wanted.returncode == 0:
            expect(output.read_bytes() == wanted.stdout, True, "the data in the file differ")

    # Files and programs for the cases

    def file(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        return path

    def seal(self, size: int, **how) -> tuple[Path, Path]:
        data = self.file("Größe und Name.bin", secrets.token_bytes(size))
        data.chmod(0o640)
        os.utime(data, ns=(0, 1_234_567_890_123_456_789))
        sealed = self.folder / "sealed"
        sealed.unlink(missing_ok=True)
        self.program.seal(data, sealed, **how)
        return data, sealed

    def opens(self, sealed: Path, data: Path, *options):
        found = self.reader.read(*options, sealed)
        expect(found.returncode, 0, found.stderr.decode())
        expect(found.stdout == data.read_bytes(), True, "the data differ")

    def refuses_damage(self, sealed: Path, *options):
        """The reader refuses changed files.

        A passphrase is hashed in each try, so it is tried at few places.
        """
        whole = sealed.read_bytes()
        # Only the line end after armor may be missing.
        last = len(whole.rstrip(b"\n")) - 1
        places = {0, 9, 13, 15, 17, 100, 400, last // 2, last - 17, last}
        if "--passphrase-file" in options:
            places = {40, 60, 100, last}
        # A changed line end of armor may become white space, which a reader skips.
        places = {at for at in places if whole[at : at + 1] != b"\n"}
        flipped = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in sorted(places)]
        cut = [whole[:length] for length in {0, 15, 300, last - 40, last}]
        for changed in [*flipped, *cut, whole + b"\0", whole + whole[-100:]]:
            other = self.file("changed", changed)
            if (status := self.reader.status(*options, other)) in (1, 3):
                continue
            first = next((at for at, (a, b) in enumerate(zip(changed, whole)) if a != b), min(len(changed), len(whole)))
            raise AssertionError(f"status {status}, changed at {first} of {len(whole)}, {len(changed)} bytes long")


def expect(found, wanted, why: str = ""):
    if found != wanted:
        raise AssertionError(f"{found!r} instead of {wanted!r} {why}".rstrip())


def main() -> int:
    match sys.argv[1:]:
        case [binary]:
            reader = readers.Own()
        case [binary, "--reader", *command] if command:
            reader = readers.Other(command)
        case _:
            print(f"usage: {sys.argv[0]} BINARY [--reader COMMAND …]", file=sys.stderr)
            return 2
    with tempfile.TemporaryDirectory() as folder:
        check = Check(Program(binary, Path(folder)), Path(folder), reader)
        check.all()
    reader.close()
    print(f"{check.passed} passed, {check.failed} failed")
    return int(check.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
