"""What must not crash, hang or look right."""

import gc
import io
import os
import threading

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
    wrong = []

    def read(start):
        for place in range(start, start + 100_000, 1000):
            if reader._native.read_at(place, 1000) != data[place : place + 1000]:
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
    import time

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
    ):
        with pytest.raises(TypeError):
            call()
    for call in (
        lambda: deadpan.pad.pad(b"face", 0),
        lambda: deadpan.pad.pad(b"face", 16, "rot13"),
        lambda: deadpan.seal_file("a\0b", "c", KEY.public),
        lambda: deadpan.random_bytes(-1),
    ):
        with pytest.raises((ValueError, OverflowError)):
            call()
    with pytest.raises((MemoryError, OverflowError)):
        deadpan.random_bytes(2**62)
    with pytest.raises((MemoryError, OverflowError, ValueError)):
        deadpan.sealed_length(2**63, KEY.public)
