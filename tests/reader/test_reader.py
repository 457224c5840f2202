"""Tests the reader with files of the tests' own writer: files that open, and each refusal of docs/format-seal.md."""

import contextlib
import io
import json
import re
import secrets
import tempfile
import unittest
from pathlib import Path

import forms
import open as opener
import package
import writer
from sealed import header, hpke, recipients, threshold
from sealed.refusal import NoKey, Refused
from sealed.source import Disk, Memory
from writer import Payload, number, recipient, to_key, to_passphrase, to_session

KINDS = {
    0x0010: hpke.P256Key,
    0x0020: hpke.X25519,
    0x0041: hpke.MlKem768,
    0x0042: hpke.MlKem1024,
    0x0050: hpke.MlKem768P256,
    0x647A: hpke.XWing,
}
SEEDS = {kind: bytes([7]) * (64 if kind in (0x0041, 0x0042) else 32) for kind in KINDS}
PUBLIC = {kind: KINDS[kind](SEEDS[kind]).public for kind in KINDS}
STEP = 4096 - 32
SMALL = Payload(segment=4096)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.key = secrets.token_bytes(32)

    def open(self, sealed: bytes, *options: str, kind: int = 0x0020, passphrase: bytes | None = None) -> bytes:
        (self.folder / "sealed").write_bytes(sealed)
        (self.folder / "key").write_bytes(SEEDS[kind])
        asked = [*options, str(self.folder / "sealed")]
        if passphrase is None:
            asked += ["--key", str(self.folder / "key")]
        else:
            (self.folder / "passphrase").write_bytes(passphrase)
            asked += ["--passphrase-file", str(self.folder / "passphrase")]
        return opener.run(opener.parse(asked))

    def refused(self, sealed: bytes, why: str = "", **how):
        with self.assertRaises(Refused) as refusal:
            self.open(sealed, **how)
        self.assertIn(why, str(refusal.exception))

    def recipient(self, kind: int = 0x0020) -> bytes:
        return to_key(kind, PUBLIC[kind], self.key)

    def seal(self, data: bytes = b"data", recipients=None, about=None, payload: Payload = SMALL, **header) -> bytes:
        recipients = [self.recipient()] if recipients is None else recipients
        about = writer.metadata() if about is None else about
        return writer.header(self.key, recipients, about, **header) + payload.seal(self.key, data)


class TheWorkedExample(Case):
    def test_the_page_shows_a_file_that_opens(self):
        page = (Path(__file__).parents[2] / "docs" / "format-seal.md").read_text()
        example = page.split("<!-- example -->")[1].split("<!-- end of example -->")[0]
        sealed = b""
        for offset, text in re.findall(r"^ *(\d+)  ([0-9a-f]+)$", example, re.MULTILINE):
            self.assertEqual(int(offset), len(sealed))
            sealed += bytes.fromhex(text)
        self.assertEqual(self.open(sealed, passphrase=b"correct horse"), b"Nothing about this shows.\n")
        about = json.loads(self.open(sealed, "--metadata", passphrase=b"correct horse"))
        self.assertEqual((about["name"], about["padded"]), ("note.txt", True))

    def test_the_page_shows_a_recipient_of_a_session(self):
        page = (Path(__file__).parents[2] / "docs" / "format-seal.md").read_text()
        key = bytes.fromhex(re.search(r"^file key +([0-9a-f]{64})$", page, re.MULTILINE)[1])
        example = page.split("<!-- session example -->")[1].split("<!-- end of session example -->")[0]
        entry = bytes.fromhex("".join(re.findall(r"^ *\d+  ([0-9a-f]+)$", example, re.MULTILINE)))
        self.assertEqual(entry[:4], b"\xff\x02\0\x8c")
        self.assertEqual(recipients.with_passphrase(0xFF02, entry[4:], b"correct horse"), key)
        self.assertIsNone(recipients.with_passphrase(0xFF02, entry[4:], b"wrong horse"))

    def test_the_page_shows_a_recipient_with_a_key(self):
        page = (Path(__file__).parents[2] / "docs" / "format-seal.md").read_text()
        file_key = bytes.fromhex(re.search(r"^file key +([0-9a-f]{64})$", page, re.MULTILINE)[1])
        example = page.split("<!-- key example -->")[1].split("<!-- end of key example -->")[0]
        entry = bytes.fromhex("".join(re.findall(r"^ *\d+  ([0-9a-f]+)$", example, re.MULTILINE)))
        self.assertEqual(entry[:4], b"\x00\x20\x00\x50")
        key = hpke.X25519(b"\x42" * 32)
        self.assertEqual(recipients.with_keys(0x0020, entry[4:], [key]), file_key)
        self.assertEqual(package.open(key, entry[4:], writer.INFO), file_key)

    def test_the_page_shows_shares(self):
        page = (Path(__file__).parents[2] / "docs" / "format-seal.md").read_text()
        value = lambda name: bytes.fromhex(re.search(rf"^{name} +([0-9a-f]{{64}})$", page, re.MULTILINE)[1])
        file_key, shares = value("file key"), {index: value(f"share {index}") for index in (1, 2, 3)}
        for pair in ((1, 2), (1, 3), (2, 3)):
            self.assertEqual(threshold.combine({index: shares[index] for index in pair}), file_key)
        for index, share in shares.items():
            self.assertEqual(threshold.share_check(bytes([2, 3, index]), share), value(f"check {index}"))
        self.assertEqual(header.derive(file_key, "deadpan v1 threshold check"), value("key check"))
        example = page.split("<!-- share example -->")[1].split("<!-- end of share example -->")[0]
        entry = bytes.fromhex("".join(re.findall(r"^ *\d+  ([0-9a-f]+)$", example, re.MULTILINE)))
        self.assertEqual(entry[:4], b"\xff\x04\0\x95")
        self.assertEqual(threshold.open_share(entry[4:], value("group"), [hpke.X25519(b"\x42" * 32)]), shares[1])
        self.assertIsNone(threshold.open_share(entry[4:], value("group"), [hpke.X25519(b"\x43" * 32)]))


class Opens(Case):
    def test_any_two_of_three_keys(self):
        members = [(kind, PUBLIC[kind]) for kind in (0x0020, 0x0041, 0x0042)]
        sealed = self.seal(recipients=writer.to_group(2, members, self.key))
        with self.assertRaises(NoKey):
            self.open(sealed)
        (self.folder / "other").write_bytes(SEEDS[0x0041])
        self.assertEqual(self.open(sealed, "--key", str(self.folder / "other")), b"data")

    def test_the_items_of_a_session(self):
        for data in (b"one", b"another"):
            item = to_session(b"a b", bytes(16), self.key)
            sealed = self.seal(data, recipients=[self.recipient(), item])
            self.assertEqual(self.open(sealed, passphrase=b"a b\n"), data)
            self.refused(self.seal(recipients=[item, to_passphrase(b"a b", self.key)]), "more than one passphrase")
            changed = item[:-1] + bytes([item[-1] ^ 1])
            self.refused(self.seal(recipients=[changed]), "its recipient was changed", passphrase=b"a b")

    def test_every_kind_of_key(self):
        for kind in KINDS:
            with self.subTest(kind=hex(kind)):
                self.assertEqual(self.open(self.seal(recipients=[self.recipient(kind)]), kind=kind), b"data")

    def test_lengths_around_segments(self):
        for length in (0, 1, STEP - 1, STEP, STEP + 1, 2 * STEP, 2 * STEP + 1):
            for empty_last in (False, True):
                data = secrets.token_bytes(length)
                payload = Payload(4096, empty_last)
                with self.subTest(length=length, empty_last=empty_last):
                    self.assertEqual(self.open(self.seal(data, payload=payload)), data)
                    padded = self.seal(writer.padded(data), about=writer.metadata(padding=1), payload=payload)
                    self.assertEqual(self.open(padded), data)

    def test_usual_segments(self):
        data = secrets.token_bytes(2 * (262144 - 32) + 1)
        self.assertEqual(self.open(self.seal(data, payload=Payload())), data)

    def test_ranges(self):
        data = secrets.token_bytes(5 * STEP + 17)
        plain = self.seal(data)
        padded = self.seal(writer.padded(data), about=writer.metadata(padding=1))
        places = (0, 1, STEP - 1, STEP, STEP + 1, 3 * STEP, len(data) - 1, len(data), len(data) + 5)
        for sealed in (plain, padded):
            for start in places:
                for end in (start, *(place for place in places if place > start)):
                    with self.subTest(start=start, end=end, padded=sealed is padded):
                        asked = "--range", f"{start}:{end - start}"
                        if end <= len(data):
                            self.assertEqual(self.open(sealed, *asked), data[start:end])
                        else:
                            with self.assertRaises(opener.OutOfRange):
                                self.open(sealed, *asked)

    def test_a_range_leaves_damage_elsewhere_alone_but_not_at_the_end(self):
        data = secrets.token_bytes(3 * STEP)
        sealed = self.seal(data)
        at = len(sealed) - 2 * 4096
        damaged = sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]
        self.assertEqual(self.open(damaged, "--range", "5:7"), data[5:12])
        for changed in (sealed[:-1], sealed[:-4096], sealed + b"\0", sealed[:-1] + bytes([sealed[-1] ^ 1])):
            with self.assertRaises(Refused):
                self.open(changed, "--range", "5:7")

    def test_several_recipients(self):
        everyone = [to_passphrase(b"a b", self.key)] + [self.recipient(kind) for kind in KINDS]
        sealed = self.seal(recipients=everyone)
        for kind in KINDS:
            self.assertEqual(self.open(sealed, kind=kind), b"data")
        self.assertEqual(self.open(sealed, passphrase=b"a b\n"), b"data")
        for wrong in (b"a b ", b"A b", b" a b"):
            with self.assertRaises(NoKey):
                self.open(sealed, passphrase=wrong)

    def test_forms_of_a_passphrase(self):
        composed, decomposed, mixed = (
            text.encode() for text in ("\u1e69\u00e9", "s\u0323\u0307e\u0301", "s\u0307\u0323\u00e9")
        )
        opens = {composed: (composed, decomposed, mixed), decomposed: (composed, decomposed, mixed), mixed: (mixed,)}
        for sealed_with, typed in opens.items():
            for make in (to_passphrase, lambda text, key: to_session(text, bytes(16), key)):
                sealed = self.seal(recipients=[make(sealed_with, self.key)])
                for text in (composed, decomposed, mixed):
                    with self.subTest(sealed_with=sealed_with, typed=text):
                        if text in typed:
                            self.assertEqual(self.open(sealed, passphrase=text), b"data")
                        else:
                            with self.assertRaises(NoKey):
                                self.open(sealed, passphrase=text)
        self.assertEqual(recipients.forms(b"ascii"), [b"ascii"])
        self.assertEqual(recipients.forms(b"e\xcc\x81\xff"), [b"e\xcc\x81\xff"])
        self.assertEqual(recipients.forms(mixed), [mixed, composed, decomposed])
        sealed = self.seal(recipients=[to_passphrase(b"caf\xe9", self.key)])
        self.assertEqual(self.open(sealed, passphrase=b"caf\xe9"), b"data")

    def test_somebody_elses_body_of_the_same_kind(self):
        other = to_key(0x0020, hpke.X25519(bytes([8]) * 32).public, self.key)
        self.assertEqual(self.open(self.seal(recipients=[other, self.recipient()])), b"data")
        with self.assertRaises(NoKey):
            self.open(self.seal(recipients=[other]))

    def test_points_in_another_form(self):
        key = hpke.X25519(bytes([8]) * 32)
        for enc in ((2**255 - 19 + 9).to_bytes(32, "little"), key.public[:31] + bytes([key.public[31] | 0x80])):
            with self.assertRaises(ValueError):
                key.agree(enc)
        key.agree(key.public)

    def test_metadata(self):
        about = writer.metadata(1, 0, (-1, 999999999), 0o7777, "ä.txt".encode())
        found = json.loads(self.open(self.seal(about=about), "--metadata"))
        self.assertEqual(
            found,
            {"kind": "file", "padded": False, "seconds": -1, "nanoseconds": 999999999, "mode": 0o7777, "name": "ä.txt"},
        )
        found = json.loads(self.open(self.seal(about=writer.metadata(2, name=b"x" * 4096)), "--metadata"))
        self.assertEqual(found, {"kind": "folder", "padded": False, "name": "x" * 4096})

    def test_slack(self):
        self.assertEqual(self.open(self.seal(slack=bytes(5000))), b"data")

    def test_armor_in_every_form(self):
        for length in range(3):
            data = secrets.token_bytes(1000 + length)
            for name, text in forms.permitted(self.seal(data)):
                with self.subTest(name, length=length):
                    self.assertEqual(self.open(text.encode()), data)


class RefusesHeaders(Case):
    def test_fixed_fields(self):
        sealed = self.seal()
        for at, why in [(0, "not a sealed file"), (7, "not a sealed file"), (8, "version"), (9, "flags")]:
            self.refused(sealed[:at] + bytes([sealed[at] ^ 2]) + sealed[at + 1 :], why)

    def test_cut_anywhere(self):
        sealed = self.seal()
        for length in [*range(20), *range(20, len(sealed), 7), len(sealed) - 1]:
            self.refused(sealed[:length])

    def test_lengths(self):
        sealed = self.seal()
        for length in (0, 335, 419, (1 << 20) + 1, 0xFFFFFFFF):
            self.refused(sealed[:10] + number(length, 4) + sealed[14:], "header length")
        largest = (1 << 20) - len(writer.header(self.key, [self.recipient()], writer.metadata()))
        self.assertEqual(self.open(self.seal(slack=bytes(largest))), b"data")
        self.refused(self.seal(slack=bytes(largest + 1)), "header length")

    def test_counts(self):
        for count in (0, 3, 65535):
            self.refused(self.seal(count=count), "more recipients than")
        self.refused(self.seal(count=2))
        self.refused(self.seal(recipients=[self.recipient()] * 2, count=1))

    def test_recipients(self):
        body = self.recipient()[4:]
        self.refused(self.seal(recipients=[recipient(0x0021, body), self.recipient()]), "of a type")
        for wrong in (body[:-1], body + b"\0"):
            self.refused(
                self.seal(recipients=[recipient(0x0020, wrong), self.recipient()], slack=bytes(9)), "another length"
            )
        passphrase = to_passphrase(b"p", self.key)
        self.refused(self.seal(recipients=[passphrase, passphrase]), "more than one passphrase")

    def test_box_lengths(self):
        for size in (0, 255, 257, 4352 + 256, 8192):
            about = writer.metadata()[:size].ljust(size, b"\0")
            self.refused(self.seal(about=about, recipients=[self.recipient(0x0041)]), "box")

    def test_slack_that_is_not_zero(self):
        self.refused(self.seal(slack=b"\1"), "slack")
        self.refused(self.seal(slack=b"\0\0\1\0"), "slack")

    def test_mac_and_keys(self):
        sealed = self.seal()
        end = int.from_bytes(sealed[10:14], "big")
        self.refused(sealed[: end - 1] + bytes([sealed[end - 1] ^ 1]) + sealed[end:], "header was changed")
        stranger = to_key(0x0020, PUBLIC[0x0020], bytes(32))
        self.refused(self.seal(recipients=[stranger]), "header was changed")
        # A recipient that was sealed for another preamble or another purpose does not open.
        for info in (b"deadpan v2 recipient" + writer.P, writer.INFO[:-1] + b"\1", b"deadpan v1 recipient"):
            with self.assertRaises(NoKey):
                self.open(self.seal(recipients=[to_key(0x0020, PUBLIC[0x0020], self.key, info)]))

    def test_every_byte_of_a_small_file(self):
        sealed = self.seal()
        for at in range(len(sealed)):
            with self.assertRaises((Refused, NoKey), msg=at):
                self.open(sealed[:at] + bytes([sealed[at] ^ 0x10]) + sealed[at + 1 :])

    def test_parts_that_are_wrong_under_a_right_mac(self):
        good = self.seal()
        end = int.from_bytes(good[10:14], "big")
        start = good[: end - 32 - 1] + bytes([good[end - 32 - 1] ^ 1])
        self.refused(writer.with_mac(self.key, start) + good[end:], "box with the metadata was changed")
        wrapped = to_passphrase(b"p", self.key)
        sealed = self.seal(recipients=[wrapped[:-1] + bytes([wrapped[-1] ^ 1]), self.recipient()])
        self.refused(sealed, "its recipient was changed", passphrase=b"p")
        self.assertEqual(self.open(sealed), b"data")

    def test_a_header_longer_than_the_file(self):
        (self.folder / "short").write_bytes(b"1234")
        with (self.folder / "short").open("rb") as file:
            for source in (Disk(file), Memory(b"1234")):
                self.assertEqual(source.take(1, 3), b"234")
                with self.assertRaises(Refused):
                    source.take(1, 4)

    def test_costs_of_a_passphrase(self):
        good = to_passphrase(b"p", self.key, 16, 1, 2)
        self.assertEqual(self.open(self.seal(recipients=[good]), passphrase=b"p"), b"data")
        for m, t, p in [
            (15, 1, 2),
            (16, 0, 2),
            (16, 1, 0),
            (16, 65, 2),
            (520, 1, 65),
            ((1 << 22) + 1, 1, 1),
            (1 << 22, 5, 1),
            ((1 << 24) - 1, 1, 1),
        ]:
            cost = number(m, 4) + number(t, 4) + number(p, 4)
            sealed = self.seal(recipients=[self.recipient(), good[:4] + cost + good[16:]])
            self.refused(sealed, "cost", passphrase=b"p")
            self.refused(sealed, "cost")


class RefusesMetadata(Case):
    def test_fields(self):
        bad = [
            writer.metadata(3),
            writer.metadata(0, 2),
            b"\0\0\x08".ljust(256, b"\0"),
            writer.metadata(time=(0, 10**9)),
            writer.metadata(mode=0o10000),
            writer.metadata()[:-1] + b"\1",
            writer.metadata(name=b"x")[:-1] + b"\1",
            writer.metadata(name=b"x" * 4097),
            b"\0\0\x04\x10\x00".ljust(256, b"x"),
        ]
        bad += [writer.metadata(size=512), writer.metadata(size=8192)]
        bad += [writer.metadata(name=name) for name in (b"", b".", b"..", b"a/b", b"a\\b", b"/", b"a\0b", b"a\0")]
        for about in bad:
            with self.subTest(about=about[:12]):
                self.refused(self.seal(about=about))

    def test_names_that_only_look_bad(self):
        for name in ("...", ".a", "a..", " ", "\n"):
            found = json.loads(self.open(self.seal(about=writer.metadata(name=name.encode())), "--metadata"))
            self.assertEqual(found["name"], name)


class RefusesPayloads(Case):
    def test_parameters(self):
        good = bytes(2) + number(4096, 4) + number(32, 4)
        for parameters in (
            b"\1" + good[1:],
            b"\0\1" + good[2:],
            good[:6] + number(16, 4),
            good[:2] + number(4095, 4) + good[6:],
        ):
            self.refused(self.seal(payload=Payload(4096, parameters=parameters)))
        self.refused(self.seal(payload=Payload((1 << 24) + 1)), "segment length")
        self.assertEqual(self.open(self.seal(payload=Payload(1 << 24))), b"data")

    def test_binding(self):
        self.refused(self.seal(payload=Payload(4096, aad=writer.P[:9] + b"\1")), "does not belong")
        other = self.seal()
        self.key = secrets.token_bytes(32)
        sealed = self.seal()
        end = int.from_bytes(sealed[10:14], "big")
        self.refused(sealed[:end] + other[end:], "does not belong")

    def test_segments(self):
        data = secrets.token_bytes(3 * STEP + 5)
        sealed = self.seal(data)
        start = len(sealed) - 3 * 4096 - 37
        first, second, third = (sealed[start + i * 4096 : start + (i + 1) * 4096] for i in range(3))
        head, last = sealed[:start], sealed[-37:]
        self.assertEqual(head + first + second + third + last, sealed)
        bad = {
            "none": head,
            "no last": head + first + second + third,
            "exchanged": head + second + first + third + last,
            "missing": head + first + third + last,
            "doubled": head + first + second + third + third + last,
            "two ends": sealed + last,
            "no rest of the last": sealed[:-6],
            "too long": sealed + bytes(40),
            "a last of 31 bytes": sealed[:-6],
            "an end in the middle": head + number(4096, 4) + first[4:] + second + third + last,
        }
        for name, changed in bad.items():
            with self.subTest(name):
                self.refused(changed)

    def test_padding(self):
        about = writer.metadata(padding=1)
        good = writer.padded(bytes(100))
        for data in (b"", b"\0", b"\0" * 104, b"x" * 104, good + b"\0", good[:-1], good + bytes(STEP), b"\x80\0"):
            with self.subTest(data=data[-5:]):
                self.refused(self.seal(data, about=about), "padding")


class RefusesArmor(Case):
    def test_forms(self):
        for length in range(3):
            for name, text in forms.refused(self.seal(secrets.token_bytes(1000 + length))):
                with self.subTest(name, length=length):
                    self.refused(text.encode())

    def test_the_line_of_the_beginning_is_named(self):
        self.refused(b"Dear Bob,\r\n\r\n" + forms.usual(self.seal()).encode(), "begins in line 3")


class Exits(Case):
    def test_statuses(self):
        sealed = self.folder / "sealed"
        key, other = self.folder / "key", self.folder / "other"
        key.write_bytes(SEEDS[0x0020])
        other.write_bytes(bytes([9]) * 32)
        sealed.write_bytes(self.seal())
        self.assertEqual(self.status("--key", key, sealed), (0, b"data"))
        self.assertEqual(self.status("--key", other, "--key", key, sealed), (0, b"data"))
        self.assertEqual(self.status("--key", other, sealed), (3, b""))
        sealed.write_bytes(self.seal()[:-1])
        self.assertEqual(self.status("--key", key, sealed), (1, b""))
        self.assertEqual(self.status("--key", key, self.folder / "absent"), (1, b""))

    def status(self, *arguments) -> tuple[int, bytes]:
        out = io.TextIOWrapper(io.BytesIO())
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            status = opener.main([str(argument) for argument in arguments])
        return status, out.buffer.getvalue()


if __name__ == "__main__":
    unittest.main()
