//! Base64 and base 16 with the names of Python's module `base64`, in a time that depends on the lengths only.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyType};

use crate::buffer::{self, Input};
use crate::imp::NewBytes;
use deadpan_base64::hex::{self, Case};
use deadpan_base64::{Base64, Error, STANDARD, URL_SAFE};
use deadpan_ct::{CtEq, Wiped};

/// Longer data are encoded and decoded without the interpreter's lock.
const BRIEF: usize = 4096;
/// The bytes of a buffer that are copied and encoded at once: whole groups of three.
const PIECE: usize = 48 << 10;
/// The bytes in a line of `encodebytes`.
const LINE: usize = 57;

/// The two symbols that stand for `+` and `/`.
type Pair = [u8; 2];
const USUAL: Pair = *b"+/";

/// Encodes bytes. `altchars` replaces `+` and `/`.
#[pyfunction]
#[pyo3(signature = (s, altchars = None))]
pub(crate) fn b64encode<'py>(
    py: Python<'py>,
    s: &Bound<'py, PyAny>,
    altchars: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    match altchars.map(pair).transpose()? {
        None | Some(USUAL) => encoded(py, s, STANDARD, |_| ()),
        Some([b'-', b'_']) => encoded(py, s, URL_SAFE, |_| ()),
        Some(pair) => encoded(py, s, STANDARD, |text| replace(text, USUAL, pair)),
    }
}

/// Decodes a text, strictly: each sequence of bytes has one valid text. `validate=False` is refused.
#[pyfunction]
#[pyo3(signature = (s, altchars = None, validate = true))]
pub(crate) fn b64decode<'py>(
    py: Python<'py>,
    s: &Bound<'py, PyAny>,
    altchars: Option<&Bound<'py, PyAny>>,
    validate: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    if !validate {
        return Err(PyValueError::new_err("this module skips no characters: validate=False is not possible"));
    }
    match altchars.map(pair).transpose()? {
        None | Some(USUAL) => decoded(py, &buffer::text(s)?, STANDARD),
        Some([b'-', b'_']) => decoded(py, &buffer::text(s)?, URL_SAFE),
        Some(pair) => {
            let mut text = Wiped::new(buffer::text(s)?.to_vec());
            // `+` and `/` are invalid, unless they are in the pair.
            replace(&mut text, USUAL, USUAL.map(|symbol| if pair.contains(&symbol) { symbol } else { b'?' }));
            replace(&mut text, pair, USUAL);
            decoded(py, &text, STANDARD)
        }
    }
}

/// Encodes bytes with `+` and `/`.
#[pyfunction]
pub(crate) fn standard_b64encode<'py>(py: Python<'py>, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    encoded(py, s, STANDARD, |_| ())
}

/// Decodes a text with `+` and `/`, strictly.
#[pyfunction]
pub(crate) fn standard_b64decode<'py>(py: Python<'py>, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    decoded(py, &buffer::text(s)?, STANDARD)
}

/// Encodes bytes with `-` and `_`.
#[pyfunction]
pub(crate) fn urlsafe_b64encode<'py>(py: Python<'py>, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    encoded(py, s, URL_SAFE, |_| ())
}

/// Decodes a text with `-` and `_`, strictly.
#[pyfunction]
pub(crate) fn urlsafe_b64decode<'py>(py: Python<'py>, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    decoded(py, &buffer::text(s)?, URL_SAFE)
}

/// Encodes bytes in lines of 76 characters, each with a line feed behind it.
#[pyfunction]
pub(crate) fn encodebytes<'py>(py: Python<'py>, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let data = Input::of(s)?;
    let data = data.fixed();
    let room = STANDARD.encoded_len(data.len()).and_then(|room| room.checked_add(data.len().div_ceil(LINE)));
    let room = room.ok_or_else(|| wrong(py, Error::TooLong))?;
    PyBytes::new_with(py, room, |text| {
        let mut rest = &mut text[..];
        for line in data.chunks(LINE) {
            let length = STANDARD.encode_into(line, rest).map_err(|error| wrong(py, error))?.len();
            rest[length] = b'\n';
            rest = &mut rest[length + 1..];
        }
        Ok(())
    })
}

/// Decodes a text in lines. White space is skipped; all else is strict.
#[pyfunction]
pub(crate) fn decodebytes<'py>(py: Python<'py>, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let data = Input::of(s)?;
    let plain = STANDARD.skipping_white_space().decode(&data.fixed()).map_err(|error| wrong(py, error))?;
    Ok(PyBytes::new(py, &Wiped::new(plain)))
}

/// Encodes bytes in base 16, in upper case.
#[pyfunction]
pub(crate) fn b16encode<'py>(py: Python<'py>, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let data = Input::of(s)?;
    let data = data.fixed();
    PyBytes::new_with(py, 2 * data.len(), |text| {
        hex::encode_into(Case::Upper, &data, text).map(drop).map_err(|error| wrong(py, error))
    })
}

/// Decodes base 16. Lower case is allowed with `casefold=True`.
#[pyfunction]
#[pyo3(signature = (s, casefold = false))]
pub(crate) fn b16decode<'py>(py: Python<'py>, s: &Bound<'py, PyAny>, casefold: bool) -> PyResult<Bound<'py, PyBytes>> {
    let text = buffer::text(s)?;
    let lower = text.iter().fold(false, |any, byte| any | byte.is_ascii_lowercase());
    if lower && !casefold {
        return Err(wrong(py, Error::Invalid));
    }
    PyBytes::new_with(py, text.len() / 2, |bytes| {
        hex::decode_into(&text, bytes).map(drop).map_err(|error| wrong(py, error))
    })
}

/// Encodes bytes, and calls `last` on each piece of the text.
fn encoded<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    codec: Base64,
    last: impl Fn(&mut [u8]) + Copy + Send + Sync,
) -> PyResult<Bound<'py, PyBytes>> {
    let data = Input::of(data)?;
    let length = data.memory().len();
    let room = codec.encoded_len(length).ok_or_else(|| wrong(py, Error::TooLong))?;
    let mut text = NewBytes::new(py, room as u64)?;
    let place = text.uninit();
    let mut encode = || match &data {
        Input::Bytes(bytes) => codec.encode_uninit(bytes, place).map(last),
        Input::Shared(pinned) => {
            let memory = pinned.memory();
            let mut piece = Wiped::new(vec![0; length.min(PIECE)]);
            (0..length).step_by(PIECE).zip(place.chunks_mut(PIECE / 3 * 4)).try_for_each(|(begin, place)| {
                let read = memory.read(&mut piece, begin as u64);
                codec.encode_uninit(&piece[..read], place).map(last)
            })
        }
    };
    let result = if length <= BRIEF { encode() } else { py.detach(encode) };
    result.map_err(|error| wrong(py, error))?;
    Ok(text.finish(room as u64))
}

fn decoded<'py>(py: Python<'py>, text: &[u8], codec: Base64) -> PyResult<Bound<'py, PyBytes>> {
    let filled = text.iter().rev().take(2).take_while(|&&byte| byte == b'=').count();
    PyBytes::new_with(py, (text.len() / 4 * 3).saturating_sub(filled), |bytes| {
        let result = match text.len() <= BRIEF {
            true => codec.decode_into(text, bytes).map(drop),
            false => py.detach(|| codec.decode_into(text, bytes).map(drop)),
        };
        result.map_err(|error| wrong(py, error))
    })
}

/// Replaces two symbols by others. May leak: the length of the text.
fn replace(text: &mut [u8], from: Pair, to: Pair) {
    for byte in text {
        let [first, second] = from.map(|symbol| byte.ct_eq(&symbol));
        *byte = first.select(to[0], second.select(to[1], *byte));
    }
}

/// Returns the two symbols of `altchars`.
fn pair(altchars: &Bound<'_, PyAny>) -> PyResult<Pair> {
    let symbols = buffer::text(altchars)?;
    <Pair>::try_from(&*symbols)
        .map_err(|_| PyValueError::new_err(format!("altchars has two characters, and not {}", symbols.len())))
}

/// Returns a `binascii.Error`, which the standard module raises.
fn wrong(py: Python<'_>, error: Error) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match CLASS.import(py, "binascii", "Error") {
        Ok(class) => PyErr::from_type(class.clone(), error.to_string()),
        Err(error) => error,
    }
}
