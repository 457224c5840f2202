"""The vectors of age and of keys, where they lie beside the repository."""

import hashlib
import pathlib
import zlib

import deadpan
import pytest

VECTORS = pathlib.Path(__file__).parents[4] / "shared" / "vectors"
AGE = sorted((VECTORS / "age").glob("*")) if VECTORS.exists() else []
PEM = sorted((VECTORS / "pem").glob("*")) if VECTORS.exists() else []

if not VECTORS.exists():
    pytest.skip("skipped: there are no vectors beside the repository", allow_module_level=True)


@pytest.mark.parametrize("path", AGE, ids=lambda path: path.name)
def test_age(path):
    head, _, file = path.read_bytes().partition(b"\n\n")
    fields = [line.split(": ", 1) for line in head.decode().splitlines()]
    about = dict(fields)
    if about.get("armored") == "yes":
        pytest.skip("the package does not read armor")
    if about.get("compressed") == "zlib":
        file = zlib.decompress(file)
    keys = [deadpan.PrivateKey.read(value) for name, value in fields if name == "identity"]
    keys += [deadpan.Passphrase(value) for name, value in fields if name == "passphrase"]
    if about["expect"] == "success":
        assert hashlib.sha256(deadpan.open(file, keys)).hexdigest() == about["payload"]
    else:
        with pytest.raises((deadpan.Error, ValueError)):
            deadpan.open(file, keys)


@pytest.mark.parametrize("path", PEM, ids=lambda path: path.name)
def test_pem(path):
    text = path.read_text()
    if "ML-DSA" in path.name or path.name.startswith("bad-"):
        with pytest.raises(deadpan.Error):
            deadpan.PrivateKey.read(text) if path.suffix == ".priv" else deadpan.PublicKey.read(text)
    elif path.suffix == ".priv":
        key = deadpan.PrivateKey.read(text)
        assert key.public.kind in path.name
        assert deadpan.open(deadpan.seal(b"face", key.public), key) == b"face"
        public = path.with_name(path.name.split("-", 3)[0] + "-" + "-".join(path.stem.split("-")[1:3]) + ".pub")
        assert key.public == deadpan.PublicKey.read(public.read_text())
    else:
        assert deadpan.PublicKey.read(text).kind in path.name
