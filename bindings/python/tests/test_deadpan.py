import copy
import gc
import io
import os
import pickle
import re
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zipfile

import deadpan
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

KEY = deadpan.PrivateKey.generate()
OTHER = deadpan.PrivateKey.generate()


@pytest.mark.parametrize("mode", ["hybrid", "ecc", "pqc", "P-256", "ML-KEM-1024"])
def test_keys_are_written_and_read(mode):
    key = deadpan.PrivateKey.generate(mode)
    passphrase = deadpan.Passphrase("correct horse")
    sealed = deadpan.seal(b"face", key.public)
    assert deadpan.open(sealed, deadpan.PrivateKey.read(key.to_pem())) == b"face"
    locked = key.to_pem(passphrase)
    with pytest.raises(deadpan.LockedKeyError):
        deadpan.PrivateKey.read(locked)
    with pytest.raises(deadpan.PassphraseError):
        deadpan.PrivateKey.read(locked, deadpan.Passphrase("battery"))
    assert deadpan.open(sealed, deadpan.PrivateKey.read(locked, passphrase)) == b"face"
    assert deadpan.PublicKey.read(key.public.to_pem()) == key.public
    assert key.public.fingerprint in repr(key.public)
    assert hash(deadpan.PublicKey.read(key.public.to_pem())) == hash(key.public)
    assert "PRIVATE" not in repr(key)


@pytest.mark.parametrize("mode", ["hybrid", "ecc", "pqc", "P-256", "ML-KEM-1024"])
def test_keys_are_compared_by_value(mode):
    key, other = deadpan.PrivateKey.generate(mode), deadpan.PrivateKey.generate(mode)
    again = deadpan.PrivateKey.read(key.to_pem())
    assert key == again and not key != again and hash(key) == hash(again) and len({key, again, other}) == 2
    assert key != other and key != KEY and key != key.public and key != "a text" and key != None  # noqa: E711
    assert copy.copy(key) is key and copy.deepcopy({"key": key})["key"] is key


@pytest.mark.parametrize("mode", ["hybrid", "ecc", "pqc", "P-256", "ML-KEM-1024"])
def test_public_keys_are_copied_and_pickled(mode):
    key = deadpan.PrivateKey.generate(mode).public
    copies = [copy.copy(key), copy.deepcopy(key)]
    copies += [pickle.loads(pickle.dumps(key, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    assert all(one == key and type(one) is deadpan.PublicKey for one in copies) and {key, *copies} == {key}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_secrets_are_not_pickled(protocol):
    passphrase = deadpan.Passphrase("correct horse")
    for secret in (KEY, passphrase, deadpan.Session(passphrase)):
        with pytest.raises(TypeError, match="not pickled, because"):
            pickle.dumps(secret, protocol)
        assert copy.copy(secret) is secret and copy.deepcopy(secret) is secret


def test_age_keys_and_files():
    key = deadpan.PrivateKey.generate("ecc")
    assert key.public.to_age().startswith("age1")
    assert key.to_age().startswith(b"AGE-SECRET-KEY-1")
    sealed = deadpan.seal(b"face", key.public.to_age(), age=True)
    assert sealed.startswith(b"age-encryption.org/v1")
    assert deadpan.open(sealed, key) == b"face"


def test_wrong_modes_and_keys():
    with pytest.raises(ValueError, match="hybrid"):
        deadpan.PrivateKey.generate("rot13")
    with pytest.raises(deadpan.InvalidKeyError):
        deadpan.PublicKey.read("no key")
    with pytest.raises(ValueError):
        deadpan.Passphrase("")
    with pytest.raises(TypeError):
        deadpan.seal(b"face", 7)
    with pytest.raises(TypeError):
        deadpan.open(b"face", "a text")
    with pytest.raises(TypeError, match="encode"):
        deadpan.seal("a text", KEY.public)
    with pytest.raises(ValueError):
        deadpan.seal(b"face", [])
    with pytest.raises(ValueError):
        deadpan.seal(b"face", [KEY.public, deadpan.PrivateKey.generate("ecc").public])
    deadpan.seal(b"face", [KEY.public, deadpan.PrivateKey.generate("ecc").public], allow_mixed=True)


@given(st.binary(max_size=3000), st.booleans())
@settings(max_examples=200, deadline=None)
def test_bytes_come_back(data, hide):
    sealed = deadpan.seal(data, KEY.public, hide_length=hide)
    assert len(sealed) == deadpan.sealed_length(len(data), KEY.public, hide_length=hide)
    assert deadpan.open(sealed, KEY) == data
    assert deadpan.open(bytearray(sealed), [OTHER, KEY]) == data


@pytest.mark.parametrize("length", [0, 1, 1000, 300_000, 9_000_000])
def test_compressed_bytes_come_back(length, tmp_path):
    for data in (os.urandom(length), b"a line of a log\n" * (length // 16)):
        sealed = deadpan.seal(data, KEY.public, compress=3)
        assert len(sealed) <= deadpan.sealed_length(len(data), KEY.public, compress=3)
        assert deadpan.open(sealed, KEY) == data
        room = bytearray(deadpan.sealed_length(len(data), KEY.public, compress=3))
        assert deadpan.open(room[: deadpan.seal_into(data, KEY.public, room, compress=3)], KEY) == data
        sink = io.BytesIO()
        with deadpan.Writer(sink, KEY.public, compress=1) as writer:
            writer.write(data)
        with deadpan.Reader(io.BytesIO(sink.getvalue()), KEY) as reader:
            assert reader.read() == data
    assert len(sealed) < 5000
    for wrong in (0, 20, 256, -1):
        with pytest.raises((ValueError, OverflowError)):
            deadpan.seal(b"face", KEY.public, compress=wrong)
    (tmp_path / "log").write_bytes(data)
    deadpan.seal_file(tmp_path / "log", tmp_path / "log.dpn", KEY.public, compress=19)
    deadpan.open_file(tmp_path / "log.dpn", tmp_path / "back", KEY)
    assert (tmp_path / "back").read_bytes() == data
    assert deadpan.inspect(tmp_path / "log.dpn", KEY)["compressed"]


@pytest.mark.parametrize("length", [0, 1, 5000, 3_000_000])
def test_damaged_files_are_repaired(length, tmp_path):
    path, output, data = tmp_path / "file", tmp_path / "output", os.urandom(length)
    path.write_bytes(data)
    sidecar = deadpan.repair_make(path)
    assert sidecar == tmp_path / "file.dpr"
    with pytest.raises(FileExistsError):
        deadpan.repair_make(path)
    deadpan.repair_make(str(path), 30, replace=True)
    whole = {"whole": True, "sidecar_whole": True, "fixable": True, "missing": [], "moved": 0}
    assert deadpan.repair_check(path) == whole
    assert not deadpan.repair_fix(path, output) and not output.exists()
    path.write_bytes(data[: length - max(length // 4, 1)] if length else b"more")
    report = deadpan.repair_check(path)
    assert not report["whole"] and report["fixable"] and report["moved"] == 0
    if length < 4:
        return
    missing = sum(end - begin for begin, end in report["missing"])
    assert length // 4 <= missing < length // 4 + 4096
    done = []
    assert deadpan.repair_fix(path, output, progress=done.append)
    assert output.read_bytes() == data and done[0] == 0 and done[-1] >= length
    path.write_bytes(data[: length // 2])
    with pytest.raises(deadpan.TamperedError, match="too much is damaged"):
        deadpan.repair_fix(path, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_what_cannot_be_repaired(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"face")
    for percent in (0, 101):
        with pytest.raises(ValueError, match="percentage"):
            deadpan.repair_make(path, percent)
    with pytest.raises(FileNotFoundError):
        deadpan.repair_check(path)
    with pytest.raises(deadpan.TamperedError, match="no recovery data"):
        deadpan.repair_check(path, sidecar=path)
    with pytest.raises(ValueError, match="not a regular file"):
        deadpan.repair_make(tmp_path)
    deadpan.repair_make(path, sidecar=tmp_path / "other", progress=lambda done: None)
    path.write_bytes(b"fact")
    with pytest.raises(ValueError, match="the input and the output"):
        deadpan.repair_fix(path, path, sidecar=tmp_path / "other", replace=True)


@pytest.mark.parametrize("length", [0, 1, 65503, 65504, 65505, 262112, 3_000_000, 40_000_000])
def test_lengths(length):
    data = os.urandom(length)
    sealed = deadpan.seal(data, KEY.public)
    assert deadpan.open(sealed, KEY) == data
    for changed in (0, len(sealed) // 2, len(sealed) - 1):
        bad = bytearray(sealed)
        bad[changed] ^= 1
        with pytest.raises(deadpan.Error):
            deadpan.open(bad, KEY)
    with pytest.raises(deadpan.TruncatedError):
        deadpan.open(sealed[:-1], KEY)


def test_errors_are_a_tree():
    with pytest.raises(deadpan.NoKeyError):
        deadpan.open(deadpan.seal(b"face", KEY.public), OTHER)
    with pytest.raises(deadpan.NotSealedError):
        deadpan.open(b"no such thing", KEY)
    with pytest.raises(deadpan.PassphraseError):
        deadpan.open(deadpan.seal(b"face", deadpan.Passphrase("one")), deadpan.Passphrase("two"))
    assert issubclass(deadpan.TruncatedError, deadpan.TamperedError)
    assert issubclass(deadpan.TamperedError, deadpan.Error)


def test_passphrases_and_sessions():
    passphrase = deadpan.Passphrase(b"correct horse")
    session = deadpan.Session(passphrase)
    sealed = [deadpan.seal(bytes([number]), session) for number in range(20)]
    assert [deadpan.open(item, session) for item in sealed] == [bytes([number]) for number in range(20)]
    assert deadpan.open(sealed[3], passphrase) == b"\x03"
    assert "horse" not in repr(passphrase) + repr(session)


def test_the_cost_of_passphrases_has_a_limit(tmp_path):
    # Sealed data specify the memory and work for trying a passphrase, so data of an attacker may require too much.
    passphrase = deadpan.Passphrase("correct horse")
    path, plain = tmp_path / "sealed", tmp_path / "plain"
    sealed = deadpan.seal(b"face", passphrase)
    path.write_bytes(sealed)
    low, enough = deadpan.MaxCost((256 << 10) - 1, 64), deadpan.MaxCost(memory=256 << 10, passes=3)
    uses = (
        lambda limit: deadpan.open(sealed, passphrase, max_cost=limit),
        lambda limit: deadpan.open(sealed, passphrase, max_cost=limit, progress=lambda done: None),
        lambda limit: deadpan.open_into(sealed, passphrase, bytearray(4), max_cost=limit),
        lambda limit: deadpan.open_file(path, plain, passphrase, max_cost=limit),
        lambda limit: deadpan.inspect(path, passphrase, max_cost=limit),
        lambda limit: deadpan.Reader(path, passphrase, max_cost=limit).close(),
        lambda limit: deadpan.Reader(io.BytesIO(sealed), passphrase, max_cost=limit).close(),
    )
    start = time.monotonic()
    for use in uses:
        use(enough)
    hashed = time.monotonic() - start
    # These data contain no folder, but the limit is checked first, so the error is about the limit.
    uses += (
        lambda limit: deadpan.open_folder(path, tmp_path / "folder", passphrase, max_cost=limit),
        lambda limit: deadpan.list_folder(path, passphrase, max_cost=limit),
    )
    plain.unlink()
    start = time.monotonic()
    for use in uses:
        for limit in (low, deadpan.MaxCost(256 << 10, 2), (1, 1), (0, 0)):
            with pytest.raises(deadpan.CostlyError, match="256 MiB"):
                use(limit)
    assert time.monotonic() - start < hashed, "36 refusals take less than 7 hashes"
    assert [entry.name for entry in tmp_path.iterdir()] == ["sealed"]
    # The limit does not apply to keys, or to a session whose own hash took at least as much work.
    both = deadpan.seal(b"face", [KEY, passphrase])
    assert deadpan.open(both, [passphrase, KEY], max_cost=(0, 0)) == b"face"
    session = deadpan.Session(passphrase)
    assert deadpan.open(deadpan.seal(b"face", session), session, max_cost=(0, 0)) == b"face"
    # The limit applies to one call, and is not stored in the passphrase.
    assert deadpan.open(sealed, passphrase) == b"face"


def test_into_buffers():
    sealed = bytearray(5000)
    length = deadpan.seal_into(memoryview(b"face"), KEY.public, sealed)
    out = bytearray(10)
    assert deadpan.open_into(memoryview(sealed)[:length], KEY, out) == 4
    assert out == b"face\0\0\0\0\0\0"
    with pytest.raises(ValueError, match="too small"):
        deadpan.open_into(sealed[:length], KEY, bytearray(3))
    with pytest.raises(BufferError):
        deadpan.open_into(sealed[:length], KEY, b"0123456789")
    with pytest.raises(ValueError, match="share memory"):
        deadpan.seal_into(memoryview(sealed)[:100], KEY.public, memoryview(sealed)[99:])
    with pytest.raises(BufferError):
        deadpan.seal(memoryview(b"0123456789")[::2], KEY.public)


@pytest.mark.parametrize("offset", [0, 1, 63])
def test_long_buffers_at_any_address(offset):
    # Results of at least 32 MiB are written in lines of 64 bytes, without using the caches.
    plain = bytes(range(251)) * ((33 << 20) // 251 + offset)
    room = deadpan.sealed_length(len(plain), KEY.public)
    sealed, out = bytearray(b"\xa5" * (offset + room + 7)), bytearray(b"\xa5" * (offset + len(plain) + 7))
    assert deadpan.seal_into(plain, KEY.public, memoryview(sealed)[offset:]) == room
    assert sealed[:offset] + sealed[offset + room :] == b"\xa5" * (offset + 7)
    sealed = memoryview(sealed)[offset : offset + room]
    assert deadpan.open_into(sealed, KEY, memoryview(out)[offset:]) == len(plain)
    assert out[offset : offset + len(plain)] == plain
    assert out[:offset] + out[offset + len(plain) :] == b"\xa5" * (offset + 7)


# A daemon thread unpacks a folder of many files, and the interpreter exits as soon as the incomplete output exists.
ABANDONED = """
import os, sys, threading, time
import deadpan
key = deadpan.PrivateKey.read(open("key", "rb").read())
threading.Thread(target=deadpan.open_folder, args=("many.dpn", "out", key), daemon=True).start()
while not any(name.endswith(".deadpan-part") for name in os.listdir(".")):
    time.sleep(0.001)
time.sleep(float(sys.argv[1]))
"""


@pytest.mark.parametrize("delay", ["0", "0.02", "0.1"])
def test_a_daemon_thread_leaves_no_draft(tmp_path, delay):
    many = tmp_path / "many"
    for number in range(4000):
        folder = many / str(number % 40)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / str(number)).write_bytes(b"straight face")
    (tmp_path / "key").write_bytes(KEY.to_pem())
    deadpan.seal_folder(many, tmp_path / "many.dpn", KEY.public)
    subprocess.run([sys.executable, "-c", ABANDONED, delay], cwd=tmp_path, check=True, timeout=60)
    assert {path.name for path in tmp_path.iterdir()} <= {"many", "many.dpn", "key", "out"}
    # The output may be the whole folder, but never a part of the folder.
    out = tmp_path / "out"
    assert not out.exists() or sum(len(names) for _, _, names in os.walk(out)) == 4000


def test_a_child_process_leaves_the_drafts_of_its_parent(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"face")
    deadpan.seal_folder(tmp_path / "folder", tmp_path / "sealed", KEY.public)
    script = """
import os, sys
import deadpan
key = deadpan.PrivateKey.read(open("key", "rb").read())
children = []
def progress(_):
    if not children:
        children.append(os.fork())
        if children == [0]:
            import atexit
            atexit._run_exitfuncs()
            os._exit(0)
        os.waitpid(children[0], 0)
deadpan.open_folder("sealed", "out", key, progress=progress)
"""
    (tmp_path / "key").write_bytes(KEY.to_pem())
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "out" / "file").read_bytes() == b"face"


def test_files_and_folders(tmp_path):
    plain, sealed, back = tmp_path / "plain", tmp_path / "sealed", tmp_path / "back"
    plain.write_bytes(b"straight face")
    deadpan.seal_file(plain, sealed, KEY.public)
    deadpan.open_file(sealed, back, KEY)
    assert back.read_bytes() == b"straight face"
    with pytest.raises(FileExistsError):
        deadpan.open_file(sealed, back, KEY)
    deadpan.open_file(str(sealed), os.fsencode(back).decode(), KEY, replace=True)
    with pytest.raises(FileNotFoundError, match="missing"):
        deadpan.seal_file(tmp_path / "missing", tmp_path / "x", KEY.public)
    with pytest.raises(deadpan.NoKeyError, match="sealed"):
        deadpan.open_file(sealed, tmp_path / "x", OTHER)
    about = deadpan.inspect(sealed)
    assert about["format"] == "deadpan" and about["recipients"] == [{"type": "key", "kind": "X-Wing", "kem": 0x647A}]
    assert "name" not in about and deadpan.inspect(sealed, KEY)["name"] == "plain"
    with pytest.raises(deadpan.NotSealedError):
        deadpan.inspect(plain)
    names = deadpan.Description.__annotations__
    assert set(deadpan.inspect(sealed, KEY)) == set(names) and set(about) < set(names)
    assert set(about["recipients"][0]) < set(deadpan.RecipientInfo.__annotations__)
    folder = tmp_path / "folder"
    (folder / "in").mkdir(parents=True)
    (folder / "in" / "file").write_bytes(b"straight face")
    assert deadpan.seal_folder(folder, tmp_path / "folder.dpn", KEY.public) == []
    entries = deadpan.list_folder(tmp_path / "folder.dpn", KEY)
    assert any(entry["path"].endswith("in/file") and entry["size"] == 13 for entry in entries)
    times = {entry["path"]: entry["modified"] for entry in entries}
    assert times["in/file"] == pytest.approx((folder / "in" / "file").stat().st_mtime, abs=1e-5)
    deadpan.open_folder(tmp_path / "folder.dpn", tmp_path / "again", KEY)
    assert (tmp_path / "again" / "in" / "file").read_bytes() == b"straight face"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "again", "back", "folder", "folder.dpn", "plain", "sealed",
    ]  # fmt: skip


def test_a_folder_without_what_is_excluded(tmp_path):
    folder, sealed = tmp_path / "folder", tmp_path / "folder.dpn"
    for name in ("a.o", "a.c", "node_modules/x", "in/keep.o", "in/tmp", ".git/config"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / ".gitignore").write_text("tmp\n")

    def kept(**options):
        deadpan.seal_folder(folder, sealed, KEY.public, replace=True, **options)
        return {entry["path"] for entry in deadpan.list_folder(sealed, KEY) if entry["kind"] == "file"}

    everything = {"a.o", "a.c", "node_modules/x", "in/keep.o", "in/tmp", ".git/config", ".gitignore"}
    assert kept() == everything
    assert kept(exclude="*.o") == everything - {"a.o", "in/keep.o"}
    assert kept(exclude=["node_modules/", "*.o", "!keep.o"]) == everything - {"a.o", "node_modules/x"}
    assert kept(gitignore=True) == everything - {"in/tmp", ".git/config"}
    with pytest.raises(TypeError):
        kept(exclude=7)
    for wrong in ("", "!", "/", "[a", "x/[!a", "[[:word:]]"):
        with pytest.raises(ValueError, match=re.escape(f'the pattern "{wrong}" matches nothing')):
            kept(exclude=["*.o", wrong])


def test_a_part_of_a_folder(tmp_path):
    folder, sealed = tmp_path / "folder", tmp_path / "folder.dpn"
    for name in ("a.txt", "in/b.txt", "in/c.bin", "other/d.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode() * 100_000)
    deadpan.seal_folder(folder, sealed, KEY.public)

    def opened(number, only):
        out = tmp_path / str(number)
        deadpan.open_folder(sealed, out, KEY, only=only)
        found = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
        assert all(data == name.encode() * 100_000 for name, data in found.items())
        return sorted(found)

    assert opened(1, "a.txt") == ["a.txt"]
    assert opened(2, ["in", deadpan.list_folder(sealed, KEY)[1]["path"]]) == ["a.txt", "in/b.txt", "in/c.bin"]
    assert opened(3, ["**/*.txt"]) == ["a.txt", "in/b.txt", "other/d.txt"]
    assert len(opened(4, None)) == 4
    for wrong, error in (("missing", ValueError), ([], ValueError), (7, TypeError)):
        with pytest.raises(error):
            deadpan.open_folder(sealed, tmp_path / "x", KEY, only=wrong)
    data = bytearray(sealed.read_bytes())
    data[len(data) // 2] ^= 1
    sealed.write_bytes(data)
    with pytest.raises(deadpan.TamperedError, match="folder.dpn"):
        deadpan.open_folder(sealed, tmp_path / "x", KEY, only=["in", "other"])
    assert not (tmp_path / "x").exists()


def test_progress_and_stop(tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(bytes(200_000_000))
    told = []
    deadpan.seal_file(plain, tmp_path / "sealed", KEY.public, progress=told.append)
    assert told[0] == 0 and told[-1] == 200_000_000 and told == sorted(told)

    def enough(done):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        deadpan.open_file(tmp_path / "sealed", tmp_path / "x", KEY, progress=enough)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("length", [0, 1, 300_000, 100_000_000])
@pytest.mark.parametrize("age", [False, True])
@pytest.mark.parametrize("threads", [0, 1])
def test_progress_and_threads_of_bytes(length, age, threads):
    key, data, told = deadpan.PrivateKey.generate("ecc"), bytes(length), []
    how = {"progress": told.append, "threads": threads}
    whole = lambda: told[0] == 0 and told[-1] == length and told == sorted(told)  # noqa: E731
    sealed = deadpan.seal(data, key, age=age, **how)
    assert whole() and not told.clear()
    assert deadpan.open(sealed, key, **how) == data and whole() and not told.clear()
    out, back = bytearray(len(sealed)), bytearray(length)
    assert deadpan.seal_into(data, key, out, age=age, **how) == len(out) and whole() and not told.clear()
    assert deadpan.open_into(out, key, back, **how) == length and back == data and whole()

    def enough(done):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        deadpan.seal(data, key, progress=enough)
    with pytest.raises((TypeError, OverflowError)):
        deadpan.seal(data, key, threads=-1)


def test_ctrl_c_stops_work_and_leaves_nothing(tmp_path):
    with open(tmp_path / "plain", "wb") as file:
        file.truncate(30_000_000_000)
    # A program that was started in the background ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, send)
    timer.start()
    try:
        # If the work were not interrupted, the whole file would take seconds.
        with pytest.raises(KeyboardInterrupt):
            deadpan.seal_file(tmp_path / "plain", tmp_path / "sealed", KEY.public)
        took = time.monotonic() - sent[0]
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert took < 3, "0.1 on an idle machine"
    assert [path.name for path in tmp_path.iterdir()] == ["plain"]


def test_reader_and_writer(tmp_path):
    data = os.urandom(2_000_000)
    path = tmp_path / "sealed"
    with open(path, "wb") as file, deadpan.Writer(file, KEY.public) as writer:
        for start in range(0, len(data), 77_777):
            assert writer.write(data[start : start + 77_777]) == len(data[start : start + 77_777])
        assert writer.tell() == len(data)
    reader = deadpan.Reader(path, KEY)
    assert len(reader) == len(data)
    for place in (0, 1_000_000, 1_999_990, 5):
        assert reader.seek(place) == place
        assert reader.read(100) == data[place : place + 100]
    assert reader.seek(-10, os.SEEK_END) == len(data) - 10
    assert reader.read() == data[-10:]
    assert reader.read(5) == b""
    assert io.BufferedReader(deadpan.Reader(path, KEY)).read() == data
    reader.close()
    with pytest.raises(ValueError):
        reader.read(1)
    with pytest.raises(FileNotFoundError):
        deadpan.Reader(tmp_path / "missing", KEY)
    with pytest.raises(deadpan.NoKeyError):
        deadpan.Reader(path, OTHER)


def test_a_writer_that_fails_has_no_end(tmp_path):
    path = tmp_path / "sealed"
    with pytest.raises(RuntimeError), open(path, "wb") as file, deadpan.Writer(file, KEY.public) as writer:
        writer.write(b"straight ")
        raise RuntimeError
    with pytest.raises(deadpan.TruncatedError):
        deadpan.open(path.read_bytes(), KEY)


def test_a_forgotten_writer_warns():
    with pytest.warns(ResourceWarning, match="cut short"):
        deadpan.Writer(io.BytesIO(), KEY.public).write(b"face")
        gc.collect()


def test_the_standard_library_reads_and_writes_sealed_files(tmp_path):
    path = tmp_path / "sealed"
    (tmp_path / "file").write_bytes(b"straight face")
    with open(path, "wb") as file, deadpan.Writer(file, KEY.public) as writer:
        with tarfile.open(fileobj=writer, mode="w|") as archive:
            archive.add(tmp_path / "file", arcname="file")
    with tarfile.open(fileobj=deadpan.Reader(path, KEY)) as archive:
        assert archive.extractfile("file").read() == b"straight face"
    with open(path, "wb") as file, deadpan.Writer(file, KEY.public) as writer:
        with zipfile.ZipFile(writer, "w") as archive:
            archive.writestr("file", b"straight face")
    with zipfile.ZipFile(deadpan.Reader(path, KEY)) as archive:
        assert archive.read("file") == b"straight face"
    with open(path, "wb") as file, deadpan.Writer(file, KEY.public) as writer:
        pickle.dump({"face": "straight"}, writer)
    assert pickle.load(io.BufferedReader(deadpan.Reader(path, KEY))) == {"face": "straight"}


def test_base64_pad_and_compare():
    import base64

    for length in range(70):
        data = os.urandom(length)
        assert deadpan.base64.b64encode(data) == base64.b64encode(data)
        assert deadpan.base64.urlsafe_b64encode(data) == base64.urlsafe_b64encode(data)
        assert deadpan.base64.b64encode(data, b"-_") == base64.b64encode(data, b"-_")
        assert deadpan.base64.b64decode(base64.b64encode(data)) == data
        assert deadpan.base64.b64decode(base64.b64encode(data).decode()) == data
        assert deadpan.base64.urlsafe_b64decode(base64.urlsafe_b64encode(data)) == data
        assert deadpan.base64.b64decode(base64.b64encode(data, b"*!"), b"*!") == data
    for bad in (b"Zg=", b"Zh==", b"Z g==", b"Zg==\n"):
        with pytest.raises(ValueError):
            deadpan.base64.b64decode(bad)
    assert deadpan.ct.compare_digest(b"face", b"face") and not deadpan.ct.compare_digest(b"face", b"fact")
    assert not deadpan.ct.compare_digest("face", "faces")
    assert deadpan.pad.pad(b"attack at dawn") == b"attack at dawn\x02\x02"
    assert deadpan.pad.unpad(deadpan.pad.pad(b"x", 8, "iso7816-4"), 8, "iso7816-4") == b"x"
    with pytest.raises(ValueError):
        deadpan.pad.unpad(b"attack at dawn\x02\x03")
    assert len(deadpan.random_bytes(1000)) == 1000 and deadpan.random_bytes(32) != deadpan.random_bytes(32)


def test_work_does_not_hold_the_lock_of_the_interpreter(tmp_path):
    fifo, sealed = tmp_path / "fifo", tmp_path / "sealed"
    os.mkfifo(fifo)
    # `seal_file` waits for the bytes that the main thread writes to the pipe.
    thread = threading.Thread(target=deadpan.seal_file, args=(fifo, sealed, KEY.public), daemon=True)
    thread.start()
    fifo.write_bytes(b"straight face")
    thread.join(60)
    assert not thread.is_alive()
    assert deadpan.open(sealed.read_bytes(), KEY) == b"straight face"


def test_threads_work_at_the_same_time():
    data = bytes(30_000_000)
    sealed = deadpan.seal(data, KEY.public)
    results = []
    threads = [threading.Thread(target=lambda: results.append(deadpan.open(sealed, KEY) == data)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 4


def test_a_buffer_that_another_thread_writes_is_sealed_whole():
    data = bytearray(5_000_000)
    stop = False

    def write():
        byte = 0
        while not stop:
            byte = (byte + 1) % 256
            data[:1000] = bytes([byte]) * 1000

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(10):
            assert len(deadpan.open(deadpan.seal(data, KEY.public), KEY)) == len(data)
    finally:
        stop = True
        thread.join()


def test_ten_thousand_calls_do_not_grow():
    import resource

    def run(times):
        for _ in range(times):
            sealed = deadpan.seal(b"straight face", KEY.public)
            assert deadpan.open(sealed, KEY) == b"straight face"

    run(1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(10_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096


def test_an_interpreter_that_ends_with_work_under_way(tmp_path):
    code = """
import threading, deadpan, os
key = deadpan.PrivateKey.generate()
data = bytes(300_000_000)
threading.Thread(target=lambda: deadpan.seal(data, key.public), daemon=True).start()
"""
    done = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif("DEADPAN" not in os.environ, reason="DEADPAN does not name the command line")
def test_the_command_line_in_the_ring(tmp_path):
    command = os.environ["DEADPAN"]
    env = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "home")}
    (tmp_path / "key").write_bytes(KEY.to_pem())
    (tmp_path / "key").chmod(0o600)
    (tmp_path / "key.pub").write_text(KEY.public.to_pem())
    (tmp_path / "plain").write_bytes(b"straight face")
    run = lambda *words: subprocess.run([command, *words], cwd=tmp_path, env=env, check=True)  # noqa: E731
    run("seal", "-r", "key.pub", "-o", "from-cli", "plain")
    assert deadpan.open((tmp_path / "from-cli").read_bytes(), KEY) == b"straight face"
    (tmp_path / "from-python").write_bytes(deadpan.seal(b"straight face", KEY.public))
    run("open", "-i", "key", "-o", "back", "from-python")
    assert (tmp_path / "back").read_bytes() == b"straight face"
