"""Known answers for the reader's own computations."""

import json
import unittest
from pathlib import Path

from sealed import hpke, keys
from sealed.floe import Payload
from sealed.padme import padme
from sealed.refusal import Refused
from sealed.source import Memory

VECTORS = Path(__file__).resolve().parents[3] / "shared" / "vectors"
KINDS = {
    kind.kem_id: kind
    for kind in (hpke.X25519, hpke.P256Key, hpke.MlKem768, hpke.MlKem1024, hpke.XWing, hpke.MlKem768P256)
}

have_vectors = unittest.skipUnless(VECTORS.is_dir(), "the folder of published vectors is not beside this checkout")
unhex = bytes.fromhex


class Hpke(unittest.TestCase):
    def test_rfc_9180_a_1_1(self):
        key = hpke.X25519(unhex("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8"))
        enc = unhex("37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431")
        shared = unhex("fe0e18c9f024ce43799ae393c7e8fe8fce9d218875e8227b0187c04e7d2ea1fc")
        info = b"Ode on a Grecian Urn"
        self.assertEqual(key.open(enc), shared)
        secret, nonce = hpke.schedule(0x0020, shared, info, aead=1)
        self.assertEqual(secret.hex(), "4531685d41d65f03dc48f6b8302c05b0")
        self.assertEqual(nonce.hex(), "56d890e5accaaf011cff4b7d")
        sealed = unhex("f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a")
        self.assertEqual(hpke.open_base(key, enc, info, b"Count-0", sealed, aead=1), b"Beauty is truth, truth beauty")

    @have_vectors
    def test_post_quantum_and_hybrid(self):
        seen = set()
        for vector in json.loads((VECTORS / "hpke-pq" / "test-vectors.json").read_text()):
            kind = KINDS.get(vector["kem_id"])
            # In the test vectors, the private keys of the curves are derived in a way that no sealed file uses.
            if kind is None or vector["kem_id"] < 0x40:
                continue
            with self.subTest(kem=hex(vector["kem_id"]), kdf=vector["kdf_id"]):
                key = kind(unhex(vector["skRm"]))
                self.assertEqual(key.public.hex(), vector["pkRm"])
                self.assertEqual(key.open(unhex(vector["enc"])).hex(), vector["shared_secret"])
                seen.add(kind)
                if vector["kdf_id"] == 1 and vector["aead_id"] in (1, 2):
                    secret, nonce = hpke.schedule(
                        kind.kem_id, unhex(vector["shared_secret"]), unhex(vector["info"]), vector["aead_id"]
                    )
                    self.assertEqual((secret.hex(), nonce.hex()), (vector["key"], vector["base_nonce"]))
        self.assertEqual(len(seen), 4)


@have_vectors
class Floe(unittest.TestCase):
    def test_published_files(self):
        files = sorted((VECTORS / "floe").glob("*_ct.txt"))
        self.assertGreater(len(files), 0)
        for file in files:
            with self.subTest(file=file.name):
                sealed = unhex(file.read_text())
                data = unhex(file.with_name(file.name.replace("_ct", "_pt")).read_text())
                rotation = 2 if "rotation" in file.name else 20
                payload = Payload(Memory(sealed), 0, bytes(32), b"This is AAD", (33, 4096), rotation)
                self.assertEqual(payload.open_range(0, payload.length), data)
                for changed in (sealed[:-1], sealed + b"\0", sealed[:-1] + bytes([sealed[-1] ^ 1])):
                    with self.assertRaises(Refused):
                        other = Payload(Memory(changed), 0, bytes(32), b"This is AAD", (33, 4096), rotation)
                        other.open_range(0, other.length)


@have_vectors
class Keys(unittest.TestCase):
    def test_pem(self):
        seed = bytes(range(64))
        for name, kind in (("ML-KEM-768", hpke.MlKem768), ("ML-KEM-1024", hpke.MlKem1024)):
            (key,) = keys.read((VECTORS / "pem" / f"{name}-seed.priv").read_bytes())
            self.assertIs(type(key), kind)
            self.assertEqual(key.public, kind(seed).public)
        for other in ("ML-DSA-65-seed.priv", "ML-KEM-768.pub", "bad-ML-KEM-512-1.priv"):
            with self.assertRaises(ValueError):
                keys.read((VECTORS / "pem" / other).read_bytes())


class Padme(unittest.TestCase):
    def test_lengths(self):
        # These numbers were computed by hand from the rule: for 9, e = 3 and s = 2, so the length is rounded to a
        # multiple of 2.
        by_hand = {
            0: 0,
            1: 1,
            2: 2,
            3: 3,
            7: 7,
            8: 8,
            9: 10,
            17: 18,
            18: 18,
            100: 104,
            1000: 1024,
            1025: 1088,
            1048577: 1081344,
        }
        for length, expected in by_hand.items():
            with self.subTest(length=length):
                self.assertEqual(padme(length), expected)


if __name__ == "__main__":
    unittest.main()
