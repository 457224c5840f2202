"""What must not crash, hang or look right."""

import gc
import io
import os
import threading
import time

import deadpan
import pytest

KEY = deadpan.PrivateKey.generate()


class Nonsense(io.BytesIO):
    """A file that answers what no file should."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def write(self, data):
        return self.answer

    def read(self, size=-1):
        return self.answer


@pytest.mark.parametrize("answer", [None, -1, 10**12, 0, "many", 2.5])
def test_a_file_that_says_nonsense_about_writing(answer):
    writer = deadpan.Writer(Nonsense(answer), KEY.public)
    with pytest.raises((OSError, BlockingIOError)):
        writer.write(bytes(1_000_000))
    assert writer.closed
    with pytest.raises(ValueError, match="closed"):
        writer.write(b"more")


@pytest.mark.parametrize("answer", [None, -1, b"x" * 10_000_000, "text", b""])
def test_a_file_that_says_nonsense_about_reading(answer):
    with pytest.raises((OSError, TypeError, deadpan.Error, BufferError)):
        deadpan.Reader(Nonsense(answer), KEY)


def test_files_that_raise_pass_their_exceptions_on():
    class Failing(io.BytesIO):
        def write(self, data):
            raise KeyError("mine")

        def read(self, size=-1):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        with deadpan.Writer(Failing(), KEY.public) as writer:
            writer.write(bytes(1_000_000))
    with pytest.raises(KeyError, match="mine"):
        deadpan.Reader(Failing(), KEY)


def test_short_writes_are_continued():
    class Short(io.BytesIO):
        def write(self, data):
            return super().write(data[:1000])

    out = Short()
    with deadpan.Writer(out, KEY.public) as writer:
        writer.write(bytes(100_000))
    assert deadpan.open(out.getvalue(), KEY) == bytes(100_000)


def test_reading_from_file_objects():
    data = os.urandom(700_000)
    source = io.BytesIO(deadpan.seal(data, KEY.public))
    source.seek(100)
    reader = deadpan.Reader(source, KEY)
    assert reader.read() == data
    reader.seek(300_000)
    assert reader.read(10) == data[300_000:300_010]
    source.close()
    with pytest.raises(ValueError, match="closed"):
        reader.seek(0)
        reader.read()
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        reader.read()
    with pytest.raises(ValueError, match="closed"):
        len(reader)
    empty = deadpan.Reader(io.BytesIO(deadpan.seal(b"", KEY.public)), KEY)
    assert empty and len(empty) == 0 and empty.read() == b""
    empty.close()


def test_a_reader_of_changed_data():
    data = bytearray(deadpan.seal(bytes(3_000_000), KEY.public))
    data[2_000_000] ^= 1
    with deadpan.Reader(io.BytesIO(data), KEY) as reader:
        assert reader.read(1000) == bytes(1000)
        reader.seek(1_900_000)
        with pytest.raises(deadpan.TamperedError):
            reader.read(500_000)


def test_a_forgotten_reader_warns_and_closes_its_file(tmp_path):
    (tmp_path / "sealed").write_bytes(deadpan.seal(b"face", KEY.public))
    before = len(os.listdir("/proc/self/fd"))
    with pytest.warns(ResourceWarning, match="not closed"):
        deadpan.Reader(tmp_path / "sealed", KEY).read()
        gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before
    with deadpan.Reader(tmp_path / "sealed", KEY) as reader:
        assert len(os.listdir("/proc/self/fd")) == before + 1
    assert reader.closed and len(os.listdir("/proc/self/fd")) == before


def test_one_reader_and_one_writer_in_many_threads():
    data = os.urandom(2_000_000)
    reader = deadpan.Reader(io.BytesIO(deadpan.seal(data, KEY.public)), KEY)
    wrong, native = [], reader.raw._native

    def read(start):
        for place in range(start, start + 100_000, 1000):
            if native.read_into(place, piece := bytearray(1000)) != 1000 or piece != data[place : place + 1000]:
                wrong.append(place)

    threads = [threading.Thread(target=read, args=(start,)) for start in range(0, 800_000, 100_000)]
    [thread.start() for thread in threads]
    [thread.join(60) for thread in threads]
    assert wrong == [] and not any(thread.is_alive() for thread in threads)
    reader.close()


def test_a_writer_that_is_closed_by_another_thread():
    out = io.BytesIO()
    writer = deadpan.Writer(out, KEY.public)
    stopped = threading.Event()

    def write():
        try:
            while not stopped.is_set():
                writer.write(bytes(100_000))
        except ValueError:
            stopped.set()

    thread = threading.Thread(target=write)
    thread.start()
    writer.abandon()
    thread.join(60)
    assert stopped.is_set() and not thread.is_alive()


def test_a_progress_callback_that_takes_its_time_or_returns_nonsense(tmp_path):
    (tmp_path / "plain").write_bytes(bytes(50_000_000))

    def slow(done):
        time.sleep(0.05)
        return "nonsense"

    deadpan.seal_file(tmp_path / "plain", tmp_path / "sealed", KEY.public, progress=slow)
    with pytest.raises(TypeError):
        deadpan.seal_file(tmp_path / "plain", tmp_path / "other", KEY.public, progress=7)
    assert not (tmp_path / "other").exists()


def test_arguments_that_are_not_possible():
    for call in (
        lambda: deadpan.seal(None, KEY.public),
        lambda: deadpan.seal(b"face", None),
        lambda: deadpan.open(b"face", None),
        lambda: deadpan.seal(b"face", [KEY.public, None]),
        lambda: deadpan.Passphrase(None),
        lambda: deadpan.Session(None),
        lambda: deadpan.PrivateKey.read(None),
        lambda: deadpan.Reader(None, KEY),
        lambda: deadpan.Writer(None, None),
        lambda: deadpan.seal_file(None, None, KEY.public),
        lambda: deadpan.seal_into(b"face", KEY.public, None),
        lambda: deadpan.pad.pad(b"face", "many"),
        lambda: deadpan.PrivateKey(),
        lambda: deadpan.open(b"face", KEY, max_cost=7),
        lambda: deadpan.open(b"face", KEY, max_cost=(7,)),
        lambda: deadpan.open(b"face", KEY, max_cost=(7, 1.5)),
        lambda: deadpan.open(b"face", KEY, max_cost="1GiB:3"),
    ):
        with pytest.raises(TypeError):
            call()
    for call in (
        lambda: deadpan.pad.pad(b"face", 0),
        lambda: deadpan.pad.pad(b"face", 16, "rot13"),
        lambda: deadpan.seal_file("a\0b", "c", KEY.public),
        lambda: deadpan.random_bytes(-1),
        lambda: deadpan.open(b"face", KEY, max_cost=(-1, 3)),
        lambda: deadpan.open(b"face", KEY, max_cost=(1, 1 << 32)),
    ):
        with pytest.raises((ValueError, OverflowError)):
            call()
    with pytest.raises((MemoryError, OverflowError)):
        deadpan.random_bytes(2**62)
    with pytest.raises((MemoryError, OverflowError, ValueError)):
        deadpan.sealed_length(2**63, KEY.public)


def test_several_keys_in_a_text():
    other = deadpan.PrivateKey.generate("pqc")
    both = KEY.public.to_pem() + other.public.to_pem()
    assert deadpan.PublicKey.read_all(both) == [KEY.public, other.public]
    sealed = deadpan.seal(b"face", both)
    assert deadpan.open(sealed, KEY) == deadpan.open(sealed, other) == b"face"
    for call in (
        lambda: deadpan.PublicKey.read(both),
        lambda: deadpan.PrivateKey.read(KEY.to_pem() + other.to_pem()),
        lambda: deadpan.PublicKey.read(KEY.to_pem()),
        lambda: deadpan.PrivateKey.read(KEY.public.to_pem()),
    ):
        with pytest.raises(deadpan.InvalidKeyError):
            call()
    with pytest.raises(TypeError, match="private key is needed"):
        deadpan.open(sealed, KEY.public)


def test_errors_say_what_to_do_next(tmp_path):
    (tmp_path / "my.pub").write_text(KEY.public.to_pem())
    read = r"read the file.*read_bytes\(\)"
    for call, error, advice in (
        (lambda: deadpan.seal(b"face", "my.pub"), deadpan.InvalidKeyError, read),
        (lambda: deadpan.seal(b"face", str(tmp_path / "my.pub").encode()), deadpan.InvalidKeyError, read),
        (lambda: deadpan.PublicKey.read("my.pub"), deadpan.InvalidKeyError, read),
        (lambda: deadpan.PrivateKey.read("my.key"), deadpan.InvalidKeyError, read),
        (lambda: deadpan.seal(b"face", tmp_path / "my.pub"), TypeError, read),
        (lambda: deadpan.open(b"face", tmp_path / "my.key"), TypeError, r"PrivateKey.read\("),
        (lambda: deadpan.open(b"face", ["my.key"]), TypeError, r"str is no key; .*PrivateKey.read\("),
        (lambda: deadpan.open(b"face", KEY.to_pem()), TypeError, r"bytes is no key; .*PrivateKey.read\("),
        (lambda: deadpan.PublicKey.read(KEY.public.to_pem() * 2), deadpan.InvalidKeyError, "PublicKey.read_all"),
        (lambda: deadpan.seal(b"", [KEY, deadpan.PrivateKey.generate("ecc")]), ValueError, "allow_mixed=True"),
        (lambda: deadpan.open(b"face", KEY, max_cost="1GiB:3"), TypeError, r"deadpan.MaxCost\(memory, passes\)"),
        (lambda: deadpan.open(b"face", KEY, max_cost=(-1, 3)), ValueError, r"-1 KiB and 3 passes"),
    ):  # fmt: skip
        with pytest.raises(error, match=advice):
            call()
    # The advice about paths does not appear for a damaged key.
    with pytest.raises(deadpan.InvalidKeyError) as damaged:
        deadpan.PublicKey.read(KEY.public.to_pem()[:-40])
    assert "path" not in str(damaged.value)


def test_modules_have_no_names_of_others():
    import types

    for module in (deadpan.lab, deadpan.base64, deadpan.ct, deadpan.pad):
        assert not [name for name, what in vars(module).items() if isinstance(what, types.ModuleType)]


def test_errors_of_files_have_numbers_and_names(tmp_path):
    import errno

    with pytest.raises(FileNotFoundError) as missing:
        deadpan.seal_file(tmp_path / "missing", tmp_path / "x", KEY.public)
    assert (missing.value.errno, missing.value.filename) == (errno.ENOENT, str(tmp_path / "missing"))
    (tmp_path / "there").write_bytes(b"face")
    with pytest.raises(FileExistsError) as exists:
        deadpan.seal_file(tmp_path / "there", tmp_path / "there2", KEY.public)
        deadpan.seal_file(tmp_path / "there", tmp_path / "there2", KEY.public)
    assert (exists.value.errno, exists.value.filename) == (errno.EEXIST, str(tmp_path / "there2"))
    with pytest.raises(TypeError, match="binary file object"):
        deadpan.Writer(tmp_path / "x", KEY.public)


def test_an_interpreter_that_ends_with_open_files_says_nothing(tmp_path):
    import subprocess
    import sys

    code = f"""
import deadpan, io
key = deadpan.PrivateKey.generate()
kept = [deadpan.Reader(io.BytesIO(deadpan.seal(b"face", key)), key), deadpan.Writer(io.BytesIO(), key)]
kept.append(kept)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


class Slow(io.BytesIO):
    """A file that lets other threads run in the middle of each call."""

    def write(self, data):
        time.sleep(0.001)
        return super().write(data)

    def read(self, size=-1):
        time.sleep(0.001)
        return super().read(size)


def test_a_writer_in_many_threads_keeps_its_order():
    for _ in range(2):
        out = Slow()
        with deadpan.Writer(out, KEY.public) as writer:
            write = lambda byte: [writer.write(bytes([byte]) * 300_000) for _ in range(20)]  # noqa: E731
            threads = [threading.Thread(target=write, args=(byte,)) for byte in range(4)]
            [thread.start() for thread in threads]
            [thread.join(60) for thread in threads]
        data = deadpan.open(out.getvalue(), KEY)
        assert len(data) == 4 * 20 * 300_000 and set(data) == {0, 1, 2, 3}


def test_a_reader_in_many_threads_reads_everything_once():
    data = os.urandom(5_000_000)
    with deadpan.Reader(Slow(deadpan.seal(data, KEY.public)), KEY) as reader:
        pieces = []

        def read():
            while piece := reader.read(100_000):
                pieces.append(piece)

        threads = [threading.Thread(target=read) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join(60) for thread in threads]
        assert sum(map(len, pieces)) == len(data)


def test_use_within_use_is_an_error():
    class Within(io.BytesIO):
        reader = None

        def read(self, size=-1):
            if self.reader is not None:
                self.reader.read(1)
            return super().read(size)

    source = Within(deadpan.seal(bytes(1_000_000), KEY.public))
    with deadpan.Reader(source, KEY) as reader:
        source.reader = reader
        with pytest.raises(RuntimeError, match="reentrant call"):
            reader.read(10)
        source.reader = None
        reader.seek(0)
        assert reader.read(10) == bytes(10)


def test_a_wrapper_that_is_closed_by_an_exception_seals_no_end():
    out = io.BytesIO()
    with pytest.raises(KeyError):
        with deadpan.Writer(out, KEY.public) as writer:
            with io.TextIOWrapper(io.BufferedWriter(writer), encoding="utf-8") as text:
                print("half", file=text)
                raise KeyError
    with pytest.raises(deadpan.TruncatedError):
        deadpan.open(out.getvalue(), KEY)


def test_partial_writes_cost_no_copies():
    class Short(io.RawIOBase):
        taken = 0

        def writable(self):
            return True

        def write(self, data):
            self.taken += min(len(data), 4096)
            return min(len(data), 4096)

    out, start = Short(), time.monotonic()
    with deadpan.Writer(out, KEY.public) as writer:
        writer.write(bytes(50_000_000))
    assert out.taken > 50_000_000 and time.monotonic() - start < 20


def test_copies_of_file_objects_are_refused():
    import copy
    import pickle

    with deadpan.Reader(io.BytesIO(deadpan.seal(b"face", KEY.public)), KEY) as reader:
        for call in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError):
                call(reader)


def test_errors_of_an_open_reader_name_the_file(tmp_path):
    data = bytearray(deadpan.seal(bytes(3_000_000), KEY.public))
    data[2_000_000] ^= 1
    (tmp_path / "sealed").write_bytes(data)
    with deadpan.Reader(tmp_path / "sealed", KEY) as reader:
        with pytest.raises(deadpan.TamperedError, match="sealed: "):
            reader.read()


def test_ctrl_c_stops_pictures(tmp_path):
    import signal

    data = bytes(300_000_000)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            deadpan.picture.hide(data, tmp_path / "big.png")
            timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert list(tmp_path.iterdir()) == []


class Nowhere(io.RawIOBase):
    def writable(self):
        return True

    def write(self, data):
        return len(data)


def read_all(sealed):
    with deadpan.Reader(io.BytesIO(sealed), KEY) as reader:
        reader.read(10)
        return reader.read()


def write_all(data):
    with deadpan.Writer(Nowhere(), KEY.public) as writer:
        writer.write(data)


def read_into(sealed):
    with deadpan.Reader(io.BytesIO(sealed), KEY) as reader:
        reader.readinto(bytearray(len(sealed)))


LONG_WORK = {
    "write": (bytes, write_all),
    "read": (lambda size: deadpan.seal(bytes(size), KEY.public), read_all),
    "readinto": (lambda size: deadpan.seal(bytes(size), KEY.public), read_into),
    "b64encode": (bytes, lambda data: deadpan.base64.b64encode(data, b"*!")),
    "b64encode of a buffer": (bytearray, lambda data: deadpan.base64.b64encode(data, b"*!")),
    "b64decode": (lambda size: b"A" * (size // 4 * 4), lambda text: deadpan.base64.b64decode(text, b"*!")),
    "encodebytes": (bytes, deadpan.base64.encodebytes),
    "decodebytes": (lambda size: b"AAA\n" * (size // 16 * 4), deadpan.base64.decodebytes),
    "b16encode": (bytearray, deadpan.base64.b16encode),
    "b16decode": (lambda size: bytearray(b"A") * size, deadpan.base64.b16decode),
}


@pytest.mark.parametrize("make, work", LONG_WORK.values(), ids=LONG_WORK)
def test_signals_are_heard_during_long_work(make, work):
    import signal

    heard = []
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(time.monotonic()))
    try:
        size, took = 1 << 24, 0
        while took < 0.4 and size < 1 << 29:
            size *= 2
            data = make(size)
            heard.clear()
            signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
            start = time.monotonic()
            work(data)
            took = time.monotonic() - start
            signal.setitimer(signal.ITIMER_REAL, 0)
            within = sum(1 for at in heard if at < start + took)
        # On an idle machine, `progress` is called once in 40 milliseconds.
        assert within >= max(2, took / 0.2)

        def enough(*_):
            raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, enough)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            work(data)
        assert time.monotonic() - start < 0.05 + took / 2 + 0.1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_an_interrupted_writer_is_cut_short():
    import signal

    out = io.BytesIO()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    try:
        with pytest.raises(deadpan.StoppedError, match="interrupted"):
            with deadpan.Writer(out, KEY.public) as writer:
                with pytest.raises(KeyboardInterrupt):
                    timer.start()
                    while True:
                        writer.write(bytes(100_000_000))
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    with pytest.raises((deadpan.TruncatedError, deadpan.TamperedError)):
        deadpan.open(out.getvalue(), KEY)


def test_the_lab_refuses_numbers_that_are_not_possible():
    for wrong in (
        {"names": ("-a", "b")}, {"names": ("a" * 300, "b")}, {"seed": -1}, {"seed": True}, {"seed": 2**70},
        {"time_limit": -1}, {"time_limit": float("nan")}, {"alpha": 2}, {"delta_ns": -3},
    ):  # fmt: skip
        with pytest.raises(ValueError):
            deadpan.lab.compare_timing(len, b"a", b"b", **wrong)


@pytest.mark.parametrize("kind", ["no writer", "a writer that waits"])
def test_ctrl_c_stops_waiting_for_a_pipe(tmp_path, kind):
    import signal
    os.mkfifo(tmp_path / "pipe")
    held = os.open(tmp_path / "pipe", os.O_RDWR) if kind != "no writer" else None
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for call in (
            lambda: deadpan.seal_file(tmp_path / "pipe", tmp_path / "sealed", KEY.public),
            lambda: deadpan.open_file(tmp_path / "pipe", tmp_path / "opened", KEY),
            lambda: deadpan.open_folder(tmp_path / "pipe", tmp_path / "opened", KEY),
        ):
            timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            start = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                call()
            assert time.monotonic() - start < 5
            timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
        if held is not None:
            os.close(held)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_pipe_cannot_be_read_at_any_place(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for call in (
        lambda: deadpan.Reader(tmp_path / "pipe", KEY),
        lambda: deadpan.inspect(tmp_path / "pipe"),
        lambda: deadpan.list_folder(tmp_path / "pipe", KEY),
        lambda: deadpan.picture.reveal(tmp_path / "pipe"),
    ):
        with pytest.raises(ValueError, match="is a pipe"):
            call()


def test_a_pipe_is_sealed_and_opened_in_order(tmp_path):
    data = os.urandom(3_000_000)
    for name in ("first", "second"):
        os.mkfifo(tmp_path / name)

    def write(name, text):
        threading.Thread(target=(tmp_path / name).write_bytes, args=(text,)).start()

    write("first", data)
    deadpan.seal_file(tmp_path / "first", tmp_path / "sealed", KEY.public)
    assert deadpan.open((tmp_path / "sealed").read_bytes(), KEY) == data
    write("second", (tmp_path / "sealed").read_bytes())
    deadpan.open_file(tmp_path / "second", tmp_path / "opened", KEY)
    assert (tmp_path / "opened").read_bytes() == data


@pytest.mark.parametrize("length", [1000, 3_000_000])
def test_a_failed_opening_leaves_nothing_in_the_buffer(length):
    sealed = bytearray(deadpan.seal(b"face" * length, KEY.public))
    sealed[-1] ^= 1
    out = bytearray(4 * length)
    with pytest.raises(deadpan.TamperedError):
        deadpan.open_into(sealed, KEY, out)
    assert b"face" not in out
