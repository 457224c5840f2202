"""Libraries that take file objects or give buffers."""

import array
import hmac
import io
import os
import runpy
import shutil
import sys

import deadpan
import pytest
from store import ROOT

KEY = deadpan.PrivateKey.generate()


def test_copyfileobj(tmp_path):
    data = os.urandom(3_000_000)
    with open(tmp_path / "sealed", "wb") as file, deadpan.Writer(file, KEY.public) as writer:
        shutil.copyfileobj(io.BytesIO(data), writer)
    out = io.BytesIO()
    shutil.copyfileobj(deadpan.Reader(tmp_path / "sealed", KEY), out)
    assert out.getvalue() == data


@pytest.mark.parametrize("length", [1000, 5_000_000])
def test_buffers_with_items_of_any_type(length):
    values = array.array("d", range(length // 8))
    assert deadpan.open(deadpan.seal(values, KEY.public), KEY) == values.tobytes()
    assert deadpan.open(deadpan.seal(memoryview(values).cast("B"), KEY.public), KEY) == values.tobytes()
    back = array.array("d", bytes(8 * len(values)))
    assert deadpan.open_into(deadpan.seal(values, KEY.public), KEY, back) == 8 * len(values)
    assert back == values
    assert deadpan.base64.b64decode(deadpan.base64.b64encode(values)) == values.tobytes()


def test_numpy():
    numpy = pytest.importorskip("numpy")
    image = numpy.random.default_rng(1).integers(0, 255, (700, 900, 3), dtype=numpy.uint8)
    sealed = numpy.zeros(deadpan.sealed_length(image.nbytes, KEY.public), dtype=numpy.uint8)
    assert deadpan.seal_into(image, KEY.public, sealed) == sealed.nbytes
    back = numpy.zeros_like(image)
    assert deadpan.open_into(sealed, KEY, back) == image.nbytes
    assert (back == image).all()
    with pytest.raises(BufferError, match="contiguous"):
        deadpan.seal(image[:, ::2], KEY.public)


def test_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pandas.DataFrame({"number": range(100_000), "text": [str(number) for number in range(100_000)]})
    with open(tmp_path / "table", "wb") as file, deadpan.Writer(file, KEY.public) as writer:
        table.to_parquet(writer)
    assert pandas.read_parquet(deadpan.Reader(tmp_path / "table", KEY)).equals(table)
    assert parquet.read_table(deadpan.Reader(tmp_path / "table", KEY), columns=["number"]).num_rows == 100_000
    arrow = pytest.importorskip("pyarrow")
    buffer = arrow.py_buffer(b"straight face")
    assert deadpan.open(deadpan.seal(buffer, KEY.public), KEY) == b"straight face"


def test_text_and_lines(tmp_path):
    with open(tmp_path / "sealed", "wb") as file, deadpan.Writer(file, KEY.public) as writer:
        with io.TextIOWrapper(io.BufferedWriter(writer), encoding="utf-8", newline="\n") as text:
            for number in range(5000):
                print("línea", number, file=text)
    with io.TextIOWrapper(io.BufferedReader(deadpan.Reader(tmp_path / "sealed", KEY)), encoding="utf-8") as text:
        assert [line.split()[1] for line in text] == [str(number) for number in range(5000)]


def test_pictures(tmp_path):
    data = deadpan.seal(os.urandom(20_000), KEY.public)
    one = deadpan.picture.hide(data, tmp_path / "one.webp")
    assert one == [tmp_path / "one.webp"] and deadpan.picture.reveal(one[0]) == data
    many = deadpan.picture.hide(bytearray(data), tmp_path / "many.png", size=(64, 64), spares=1)
    assert len(many) == 3 and many[0].name == "many-001.png"
    assert deadpan.picture.reveal(many[1:]) == data
    with pytest.raises(deadpan.TruncatedError):
        deadpan.picture.reveal(many[2:])
    with pytest.raises(FileExistsError):
        deadpan.picture.hide(data, tmp_path / "one.webp")
    with pytest.raises(ValueError, match="png"):
        deadpan.picture.hide(data, tmp_path / "one.gif")
    (tmp_path / "text.png").write_text("a text")
    with pytest.raises(deadpan.NotSealedError, match="text.png"):
        deadpan.picture.reveal([tmp_path / "text.png"])
    pillow = pytest.importorskip("PIL.Image")
    pillow.open(many[0]).save(tmp_path / "again.png")
    assert deadpan.picture.reveal([tmp_path / "again.png", *many[1:]]) == data


TEXTBOOK = runpy.run_path(str(ROOT / "bindings/python/examples/textbook.py"))


@pytest.mark.skipif(sys.platform == "win32", reason="the lab needs Unix sockets")
def test_compare_digest_does_not_leak():
    assert not TEXTBOOK["compare"](hmac.compare_digest, quick=True).leaks


@pytest.mark.skipif(sys.platform == "win32", reason="the lab needs Unix sockets")
@pytest.mark.skipif(sys.implementation.name != "cpython", reason="small integers of CPython")
@pytest.mark.parametrize("loop", ["by_difference", "by_xor"])
def test_a_textbook_comparison_leaks(loop):
    if loop == "by_xor" and sys.version_info >= (3, 12):
        pytest.skip("from Python 3.12 on, one code path handles all small integers")
    result = TEXTBOOK["compare"](TEXTBOOK[loop], quick=True)
    # On a busy machine, the verdict may be INCONCLUSIVE or BELOW_THRESHOLD. NO_LEAK_ABOVE would be wrong.
    assert result.verdict != "NO_LEAK_ABOVE", result
    if not result.leaks:
        pytest.skip(f"this run cannot tell whether {loop} leaks: {result}")


@pytest.mark.skipif(sys.platform == "win32", reason="the lab needs Unix sockets")
def test_the_lab_finds_a_leak_and_passes_errors_on():
    def equal(a, b):
        for x, y in zip(a, b):
            if x != y:
                return False
        return True

    zeros = bytes(256)
    first, last = (zeros, b"\1" + bytes(255)), (zeros, bytes(255) + b"\1")
    result = deadpan.lab.compare_timing(equal, first, last, names=("first", "last"), quick=True, seed=7)
    assert result.leaks and result.verdict == "LEAK" and "slower" in str(result)
    assert "data:image/svg+xml" in result._repr_html_() and any("quantiles" in name for name in result.pictures)
    assert result.record["timing"][0]["design"]["seed"] == 7

    calls = []

    def fails(_):
        calls.append(1)
        if len(calls) > 2000:
            raise KeyError("late")

    with pytest.raises(KeyError, match="late"):
        deadpan.lab.compare_timing(fails, b"a", b"b")
    with pytest.raises(ZeroDivisionError):
        deadpan.lab.compare_timing(lambda _: 1 / 0, b"a", b"b")
    with pytest.raises(ValueError, match="names"):
        deadpan.lab.compare_timing(len, b"a", b"b", names=("a=", "b"))
    with pytest.raises(TypeError, match="callable"):
        deadpan.lab.compare_timing(7, b"a", b"b")
