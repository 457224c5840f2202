"""When sealed data are complete, and what a Reader and a Writer do as file objects."""

import contextlib
import gc
import gzip
import inspect
import io
import os
import tempfile
import time
import zipfile

import deadpan
import pytest

KEY = deadpan.PrivateKey.generate()
SEALED = deadpan.seal(b"first line\nsecond line\nthird", KEY.public)


def is_cut(out):
    """Whether the sealed data do not open, as they lack their end."""
    if not out.getvalue():
        return True
    with pytest.raises(deadpan.TruncatedError):
        deadpan.open(out.getvalue(), KEY)
    return True


def text(writer):
    return io.TextIOWrapper(writer, encoding="utf-8")


def buffered_text(writer):
    return text(io.BufferedWriter(writer))


WRAPPERS = [text, buffered_text, io.BufferedWriter, contextlib.closing]


def put(wrapper, writer):
    """Writes more than buffers hold, through the wrapper if that is possible."""
    data = bytes(300_000)
    if isinstance(wrapper, io.TextIOBase):
        wrapper.write(data.decode())
    else:
        (writer if isinstance(wrapper, contextlib.closing) else wrapper).write(data)


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_wrapper_that_an_exception_leaves_seals_no_end(wrap):
    out = io.BytesIO()
    with pytest.raises(deadpan.StoppedError, match="cut short.*finish") as stopped:
        writer = deadpan.Writer(out, KEY.public)
        wrapper = wrap(writer)
        with wrapper:
            put(wrapper, writer)
            raise KeyError("mine")
    assert isinstance(stopped.value.__context__, KeyError) and writer.closed and is_cut(out)


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_wrapper_that_closes_the_writer_says_that_finish_is_missing(wrap):
    out = io.BytesIO()
    writer = deadpan.Writer(out, KEY.public)
    with pytest.raises(deadpan.StoppedError, match="cut short.*finish"):
        with wrap(writer) as wrapper:
            put(wrapper, writer)
    assert writer.closed and is_cut(out)
    with pytest.raises(deadpan.StoppedError, match="closed before finish"):
        writer.finish()
    # A second close is not an error.
    writer.close()


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_wrapper_that_is_collected_seals_no_end_and_warns(wrap):
    out = io.BytesIO()
    with pytest.warns(ResourceWarning, match="cut short") as warned:
        writer = deadpan.Writer(out, KEY.public)
        wrapper = wrap(writer)
        put(wrapper, writer)
        del writer, wrapper
        gc.collect()
    assert len(warned) == 1 and is_cut(out)


@pytest.mark.parametrize("wrap", [text, buffered_text, io.BufferedWriter])
def test_a_wrapper_within_the_block_of_the_writer(wrap):
    out = io.BytesIO()
    with deadpan.Writer(out, KEY.public) as writer:
        with wrap(writer) as wrapper:
            put(wrapper, writer)
        assert wrapper.closed and writer.closed
        with pytest.raises(ValueError, match="closed"):
            wrapper.write("more" if isinstance(wrapper, io.TextIOBase) else b"more")
    assert deadpan.open(out.getvalue(), KEY) == bytes(300_000)
    out = io.BytesIO()
    with pytest.raises(KeyError):
        with deadpan.Writer(out, KEY.public) as writer, wrap(writer) as wrapper:
            put(wrapper, writer)
            raise KeyError
    assert is_cut(out)
    # If a wrapper is collected within the `with` block, the end of the block still decides whether the data are
    # complete.
    out = io.BytesIO()
    with deadpan.Writer(out, KEY.public) as writer:
        wrapper = wrap(writer)
        put(wrapper, writer)
        del wrapper
        gc.collect()
    assert deadpan.open(out.getvalue(), KEY) == bytes(300_000)


def archive(writer, data):
    with zipfile.ZipFile(writer, "w") as zipped:
        zipped.writestr("name", data())


def compressed(writer, data):
    with gzip.GzipFile(fileobj=writer, mode="wb") as packed:
        packed.write(bytes(1000))
        packed.write(data())


@pytest.mark.parametrize("write", [archive, compressed])
def test_archives_that_an_exception_leaves_seal_no_end(write):
    out, fails = io.BytesIO(), lambda: 1 // 0
    with pytest.raises(ZeroDivisionError), deadpan.Writer(out, KEY.public) as writer:
        write(writer, fails)
    assert is_cut(out)
    out = io.BytesIO()
    with pytest.warns(ResourceWarning, match="cut short"):
        with pytest.raises(ZeroDivisionError):
            write(deadpan.Writer(out, KEY.public), fails)
        gc.collect()
    assert is_cut(out)
    out = io.BytesIO()
    with deadpan.Writer(out, KEY.public) as writer:
        write(writer, lambda: b"face")
    assert deadpan.open(out.getvalue(), KEY)


def test_finish_is_the_word_of_success():
    out = io.BytesIO()
    writer = deadpan.Writer(out, KEY.public)
    wrapper = text(writer)
    wrapper.write("face")
    wrapper.flush()
    writer.finish()
    writer.finish()
    wrapper.close()
    assert writer.closed and deadpan.open(out.getvalue(), KEY) == b"face"
    with pytest.raises(ValueError, match="closed"):
        writer.write(b"more")
    # If a wrapper still holds data when the end is sealed, there is an error instead of a silent loss.
    writer = deadpan.Writer(io.BytesIO(), KEY.public)
    wrapper = text(writer)
    wrapper.write("face")
    writer.finish()
    with pytest.raises(ValueError, match="closed"):
        wrapper.flush()
    with pytest.raises(KeyError), deadpan.Writer(out := io.BytesIO(), KEY.public) as writer:
        writer.write(b"face")
        writer.finish()
        raise KeyError
    assert deadpan.open(out.getvalue(), KEY) == b"face"


def test_a_failure_that_the_program_swallows_is_no_success():
    class Full(io.BytesIO):
        full = False

        def write(self, data):
            if self.full:
                raise OSError("no space")
            return super().write(data)

    out = Full()
    with pytest.raises(deadpan.StoppedError, match="write\\(\\) failed"):
        with deadpan.Writer(out, KEY.public) as writer:
            writer.write(bytes(1_000_000))
            out.full = True
            with contextlib.suppress(OSError):
                writer.write(bytes(1_000_000))
            out.full = False
    assert is_cut(out)
    out = io.BytesIO()
    with deadpan.Writer(out, KEY.public) as writer:
        writer.write(b"face")
        writer.abandon()
    assert is_cut(out)
    # A call with an invalid argument writes nothing and changes no state.
    with deadpan.Writer(out, KEY.public) as writer:
        for wrong in ("text", None, memoryview(b"abcd")[::2]):
            with pytest.raises((TypeError, BufferError)):
                writer.write(wrong)
        assert writer.write(b"") == 0 and writer.tell() == 0


@pytest.mark.parametrize("length", [(4 << 20) - 1, 4 << 20, (4 << 20) + 1, 9 << 20])
def test_one_long_write_and_read(length):
    data, out = os.urandom(length), io.BytesIO()
    with deadpan.Writer(out, KEY.public) as writer:
        assert writer.write(memoryview(data).cast("B")) == writer.tell() == length
    with deadpan.Reader(out, KEY) as reader:
        assert reader.read(7) + reader.read() == data


def test_lines_are_fast():
    line = bytes(10_000_000)
    sealed = deadpan.seal(line + b"\n" + b"short\n" * 100_000, KEY.public)
    start = time.monotonic()
    with deadpan.Reader(io.BytesIO(sealed), KEY) as reader:
        assert next(iter(reader)) == line + b"\n"
        assert sum(1 for short in reader if short == b"short\n") == 100_000
    # An earlier version of the reader read lines byte by byte, and took more than ten seconds.
    assert time.monotonic() - start < 3


def test_all_ways_to_read():
    data = os.urandom(300_000)
    with deadpan.Reader(io.BytesIO(deadpan.seal(data, KEY.public)), KEY) as reader:
        assert reader.readable() and reader.seekable() and not reader.writable()
        assert data.startswith(reader.peek(10)) and reader.tell() == 0
        assert reader.read(10) == data[:10]
        assert reader.readinto(rest := bytearray(100_000)) == 100_000 and rest == data[10:100_010]
        assert 0 < (count := reader.readinto1(rest)) and rest[:count] == data[100_010 : 100_010 + count]
        reader.seek(299_990)
        assert reader.readinto(rest) == 10 and rest[:10] == data[-10:]
        assert reader.read(1) == reader.read1(1) == reader.peek() == b"" and reader.readinto(rest) == 0
        assert reader.seek(7) == 7 and reader.read1(5) == data[7:12]
        assert reader.read(None) == data[12:]
        assert reader.seek(-5, os.SEEK_CUR) == 299_995 and reader.read() == data[-5:]
        assert reader.seek(400_000) == 400_000 and reader.read() == b""
        for wrong in (lambda: reader.seek(-1), lambda: reader.seek(0, 9)):
            with pytest.raises(ValueError):
                wrong()
    with deadpan.Reader(io.BytesIO(SEALED), KEY) as reader:
        assert reader.readline(5) == b"first" and reader.readlines() == [b" line\n", b"second line\n", b"third"]
    with text(deadpan.Reader(io.BytesIO(SEALED), KEY)) as lines:
        assert [line.strip() for line in lines] == ["first line", "second line", "third"]
    with pytest.raises(ValueError, match="closed"):
        reader.readline()


def test_what_is_not_possible_says_so():
    writer = deadpan.Writer(io.BytesIO(), KEY.public)
    with deadpan.Reader(io.BytesIO(SEALED), KEY) as reader:
        for call in (
            lambda: reader.write(b"face"), lambda: reader.truncate(), lambda: reader.fileno(),
            lambda: writer.read(1), lambda: writer.readline(), lambda: next(writer), lambda: writer.seek(0),
            lambda: writer.readinto(bytearray(1)), lambda: writer.truncate(), lambda: writer.fileno(),
            lambda: deadpan.Writer(reader, KEY.public),
        ):  # fmt: skip
            with pytest.raises(io.UnsupportedOperation):
                call()
    writer.abandon()


def test_text_files_are_refused_at_once(tmp_path):
    with open(tmp_path / "file", "w+") as file, tempfile.NamedTemporaryFile("w+") as named:
        for wrong in (file, named, io.StringIO()):
            with pytest.raises(TypeError, match="open\\(path, 'wb'\\)"):
                deadpan.Writer(wrong, KEY.public)
            with pytest.raises(TypeError, match="open\\(path, 'rb'\\)"):
                deadpan.Reader(wrong, KEY)
    with tempfile.NamedTemporaryFile() as file:
        with deadpan.Writer(file, KEY.public) as writer:
            writer.write(b"face")
        assert deadpan.Reader(file, KEY).read() == b"face"
    writer = deadpan.Writer(io.BytesIO(), KEY.public)
    with pytest.raises(TypeError, match="encoded"):
        writer.write("text")
    writer.abandon()


@pytest.mark.parametrize("kind", [deadpan.Reader, deadpan.Writer])
def test_all_methods_have_docstrings(kind):
    for name, what in inspect.getmembers(kind, callable):
        # A writer has these methods only because its base class has them.
        if not name.startswith(("_", "readinto" if kind is deadpan.Writer else "_")):
            assert inspect.getdoc(what), name
