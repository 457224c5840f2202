import base64
import binascii
import io
import os

import deadpan
import pytest
from hypothesis import given
from hypothesis import strategies as st

PAIRS = [None, b"+/", b"-_", b"*!", b"/+", "-_"]


@given(st.binary(max_size=500), st.sampled_from(PAIRS))
def test_as_the_standard_module(data, pair):
    own = deadpan.base64
    text = own.b64encode(data, pair)
    assert text == base64.b64encode(data, pair.encode() if isinstance(pair, str) else pair)
    assert own.b64decode(text, pair) == own.b64decode(text.decode(), pair) == data
    assert own.standard_b64encode(data) == base64.standard_b64encode(data)
    assert own.urlsafe_b64encode(data) == base64.urlsafe_b64encode(data)
    assert own.urlsafe_b64decode(base64.urlsafe_b64encode(data)) == data
    assert own.encodebytes(data) == base64.encodebytes(data)
    assert own.decodebytes(base64.encodebytes(data)) == data
    assert own.b16encode(data) == base64.b16encode(data)
    assert own.b16decode(base64.b16encode(data)) == data
    assert own.b16decode(base64.b16encode(data).lower(), casefold=True) == data


@given(st.text("Zg=ABab09+/-_ \n", max_size=12))
def test_what_is_valid_is_what_is_encoded(text):
    try:
        data = deadpan.base64.b64decode(text)
    except binascii.Error:
        # If Deadpan refuses a text, the standard module also refuses the text, or encodes the decoded bytes to a
        # different text.
        try:
            assert base64.b64encode(base64.b64decode(text, validate=True)).decode() != text
        except binascii.Error:
            pass
    else:
        assert base64.b64encode(data).decode() == text


@pytest.mark.parametrize("length", [0, 1, 4095, 4096, 4097, 29183, 29184, 29185, 49151, 49152, 49153, (24 << 20) + 1])
def test_lengths(length):
    data = os.urandom(length)
    text = base64.b64encode(data)
    for given_ in (data, bytearray(data), memoryview(data)):
        assert deadpan.base64.b64encode(given_) == text
    for given_ in (text, bytearray(text), text.decode()):
        assert deadpan.base64.b64decode(given_) == data
    out, back = io.BytesIO(), io.BytesIO()
    deadpan.base64.encode(io.BytesIO(data), out)
    assert out.getvalue() == base64.encodebytes(data)
    deadpan.base64.decode(io.BytesIO(out.getvalue()), back)
    assert back.getvalue() == data


@pytest.mark.parametrize("length", [4095, 4096, 4097, 4098, *range(65533, 65544), 131071, 131072, 131073, 131074])
@pytest.mark.parametrize("end", [b"", b"=", b"==", b"===", b"A=", b"=A", b"AA=A", b"A==="])
def test_ends_at_the_borders_of_pieces(length, end):
    text = b"A" * (length - len(end)) + end
    try:
        data = base64.b64decode(text, validate=True)
        # The standard module accepts several texts for the same bytes.
        data = data if base64.b64encode(data) == text else None
    except binascii.Error:
        data = None
    half = text.replace(b"=", b"g")
    for decode, given_, wanted in (
        (deadpan.base64.b64decode, text, data),
        (deadpan.base64.b64decode, bytearray(text), data),
        (lambda text: deadpan.base64.b64decode(text, b"*!"), text, data),
        (deadpan.base64.decodebytes, text, data),
        (deadpan.base64.b16decode, half, base64.b16decode(half) if b"g" not in half and length % 2 == 0 else None),
    ):
        if wanted is None:
            with pytest.raises(binascii.Error):
                decode(given_)
        else:
            assert decode(given_) == wanted


def test_a_file_that_gives_less_than_was_asked_for():
    class Short(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 100))

    data, out = os.urandom(10_000), io.BytesIO()
    deadpan.base64.encode(Short(data), out)
    assert out.getvalue() == base64.encodebytes(data)


def test_what_is_refused():
    for bad in (b"Zg=", b"Zh==", b"Z g==", b"Zg==\n", "Zg==é", b"Zg==Zg=="):
        with pytest.raises(binascii.Error):
            deadpan.base64.b64decode(bad)
    with pytest.raises(ValueError, match="validate"):
        deadpan.base64.b64decode(b"Zg==", validate=False)
    with pytest.raises(ValueError, match="two"):
        deadpan.base64.b64encode(b"f", b"-")
    with pytest.raises(binascii.Error):
        deadpan.base64.b64decode(b"+/==", b"-_")
    with pytest.raises(binascii.Error):
        deadpan.base64.b64decode(b"+/+/", b"*!")
    for bad in (b"abc", b"xy", b"ab"):
        with pytest.raises(binascii.Error):
            deadpan.base64.b16decode(bad)
    with pytest.raises(TypeError):
        deadpan.base64.b64encode("a text")
    with pytest.raises(TypeError):
        deadpan.ct.compare_digest("a text", b"a text")


def test_differences_from_the_standard_module_that_the_page_names():
    import array
    import hmac

    own = deadpan.base64
    assert own.b64encode(b"\xff\xff", "-_") == b"__8="
    with pytest.raises(TypeError):
        base64.b64encode(b"\xff\xff", "-_")
    with pytest.raises(binascii.Error):
        own.b64decode(b"-_+/", b"-_")
    assert base64.b64decode(b"-_+/", b"-_", validate=True) == b"\xfb\xff\xbf"
    values = array.array("H", [1, 2])
    assert own.decodebytes(own.encodebytes(values)) == values.tobytes()
    with pytest.raises(TypeError):
        base64.encodebytes(values)
    with pytest.raises(binascii.Error):
        own.decodebytes(b"Zg==\nZg==\n")
    assert base64.decodebytes(b"Zg==\nZg==\n") == b"f"
    assert deadpan.ct.compare_digest("l\u00ednea", "l\u00ednea")
    with pytest.raises(TypeError):
        hmac.compare_digest("l\u00ednea", "l\u00ednea")
