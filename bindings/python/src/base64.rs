//! Base64 and base 16 with the names of Python's module `base64`, in a time that depends on the lengths only.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyType};

use crate::buffer::{self, Input};
use crate::imp::{Memory, NewBytes};
use crate::work;
use deadpan_base64::hex::{self, Case};
use deadpan_base64::stream::Decoder;
use deadpan_base64::{Base64, Error, STANDARD, URL_SAFE};
use deadpan_ct::{CtEq, Wiped};
use deadpan_seal::ReadAt;

/// Data that are longer than this number of bytes are encoded and decoded without the interpreter's lock.
const BRIEF: usize = 4096;
/// The number of bytes of a buffer that are copied and encoded at once. It is a multiple of three.
const PIECE: usize = 48 << 10;
/// The number of bytes that are encoded at once without copying the input. For inputs of at least this length, the
/// codec's stores bypass the caches.
const LONG_PIECE: usize = 24 << 20;
/// The number of bytes in a line of `encodebytes`.
const LINE: usize = 57;
/// The number of bytes in the lines that are encoded at once.
const LINES: usize = 512 * LINE;

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
        None | Some(USUAL) => encoded(py, s, STANDARD, None),
        Some([b'-', b'_']) => encoded(py, s, URL_SAFE, None),
        Some(pair) => encoded(py, s, STANDARD, Some(pair)),
    }
}

/// Decodes a text strictly: each sequence of bytes has only one valid text. `validate=False` is refused.
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
        None | Some(USUAL) => decoded(py, s, STANDARD, None),
        Some([b'-', b'_']) => decoded(py, s, URL_SAFE, None),
        Some(pair) => decoded(py, s, STANDARD, Some(pair)),
    }
}

/// Encodes bytes with `+` and `/`.
#[pyfunction]
pub(crate) fn standard_b64encode<'py>(py: Python<'py>, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    encoded(py, s, STANDARD, None)
}

/// Decodes a text with `+` and `/`, strictly.
#[pyfunction]
pub(crate) fn standard_b64decode<'py>(py: Python<'py>, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    decoded(py, s, STANDARD, None)
}

/// Encodes bytes with `-` and `_`.
#[pyfunction]
pub(crate) fn urlsafe_b64encode<'py>(py: Python<'py>, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    encoded(py, s, URL_SAFE, None)
}

/// Decodes a text with `-` and `_`, strictly.
#[pyfunction]
pub(crate) fn urlsafe_b64decode<'py>(py: Python<'py>, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    decoded(py, s, URL_SAFE, None)
}

/// Encodes bytes in lines of 76 characters, each followed by a line feed.
#[pyfunction]
pub(crate) fn encodebytes<'py>(py: Python<'py>, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let data = Input::of(s)?;
    let memory = data.memory();
    let room = STANDARD.encoded_len(memory.len()).and_then(|room| room.checked_add(memory.len().div_ceil(LINE)));
    let room = room.ok_or_else(|| wrong(py, Error::TooLong))?;
    let mut text = NewBytes::new(py, room as u64)?;
    let mut piece = Wiped::new(vec![0; memory.len().min(LINES)]);
    let whole_line = LINE / 3 * 4 + 1;
    let pieces = (0..memory.len()).step_by(LINES).zip(text.uninit().chunks_mut(LINES / LINE * whole_line));
    in_pieces(py, memory.len(), pieces, |(begin, place)| {
        let read = memory.read(&mut piece, begin as u64);
        piece[..read].chunks(LINE).zip(place.chunks_mut(whole_line)).try_for_each(|(line, place)| {
            let length = STANDARD.encode_uninit(line, place)?.len();
            place[length].write(b'\n');
            Ok(())
        })
    })?;
    Ok(text.finish(room as u64))
}

/// Decodes a text in lines. White space is skipped; all other rules are strict. May leak: the length, the positions of
/// white space, and which block of 4096 symbols contains the first invalid symbol.
#[pyfunction]
pub(crate) fn decodebytes<'py>(py: Python<'py>, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let data = Input::of(s)?;
    let memory = data.memory();
    let length = memory.len();
    let mut decoder = Decoder::new(STANDARD.skipping_white_space());
    let mut piece = Wiped::new(vec![0; length.min(PIECE)]);
    // The length of the result is known only at the end of the text, so the result is written to a longer buffer first.
    let mut plain = NewBytes::new(py, STANDARD.decoded_len_max(length) as u64)?;
    let draft = plain.memory();
    let mut count = 0;
    let mut put = |bytes: &[u8]| {
        draft.write(bytes, count as u64).ok_or(Error::Invalid)?;
        count += bytes.len();
        Ok(())
    };
    let decoded = in_pieces(py, length, (0..length).step_by(PIECE), |begin| {
        let read = memory.read(&mut piece, begin as u64);
        let mut rest = &piece[..read];
        while !rest.is_empty() {
            let (taken, bytes) = decoder.push(rest)?;
            put(bytes)?;
            rest = &rest[taken..];
        }
        Ok(())
    });
    let decoded = decoded.and_then(|()| decoder.finish().and_then(&mut put).map_err(|error| wrong(py, error)));
    if let Err(error) = decoded {
        draft.wipe(count);
        return Err(error);
    }
    let mut result = NewBytes::new(py, count as u64)?;
    let place = result.memory();
    in_pieces(py, count, (0..count).step_by(PIECE), |begin| {
        let moved = &mut piece[..PIECE.min(count - begin)];
        draft.read(moved, begin as u64);
        place.write(moved, begin as u64).ok_or(Error::Invalid)?;
        moved.fill(0);
        draft.write(moved, begin as u64).ok_or(Error::Invalid)
    })?;
    Ok(result.finish(count as u64))
}

/// Encodes bytes in base 16, in upper case.
#[pyfunction]
pub(crate) fn b16encode<'py>(py: Python<'py>, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let data = Input::of(s)?;
    let room = data.memory().len().checked_mul(2).ok_or_else(|| wrong(py, Error::TooLong))?;
    turned(py, data.memory(), room, (PIECE, 2 * PIECE), |piece, digits| {
        hex::encode_into(Case::Upper, piece, digits).is_ok()
    })
}

/// Decodes base 16. Lower case is allowed with `casefold=True`.
#[pyfunction]
#[pyo3(signature = (s, casefold = false))]
pub(crate) fn b16decode<'py>(py: Python<'py>, s: &Bound<'py, PyAny>, casefold: bool) -> PyResult<Bound<'py, PyBytes>> {
    let text = Input::text(s)?;
    let room = text.memory().len() / 2;
    turned(py, text.memory(), room, (2 * PIECE, PIECE), |piece, bytes| {
        let lower = piece.iter().fold(false, |any, byte| any | byte.is_ascii_lowercase());
        hex::decode_into(piece, bytes).is_ok() & (casefold | !lower)
    })
}

/// Encodes bytes. The two symbols of `pair` replace `+` and `/`.
fn encoded<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    codec: Base64,
    pair: Option<Pair>,
) -> PyResult<Bound<'py, PyBytes>> {
    let data = Input::of(data)?;
    let memory = data.memory();
    let length = memory.len();
    let room = codec.encoded_len(length).ok_or_else(|| wrong(py, Error::TooLong))?;
    let mut text = NewBytes::new(py, room as u64)?;
    let encode = |piece: &[u8], place| {
        let text = codec.encode_uninit(piece, place)?;
        if let Some(pair) = pair {
            replace(text, USUAL, pair);
        }
        Ok(())
    };
    let size = if matches!(data, Input::Bytes(_)) && pair.is_none() { LONG_PIECE } else { PIECE };
    let pieces = (0..length).step_by(size).zip(text.uninit().chunks_mut(size / 3 * 4));
    let mut copy = Wiped::new(Vec::new());
    in_pieces(py, length, pieces, |(begin, place)| {
        let count = size.min(length - begin);
        if let Some(piece) = memory.bytes_at(begin as u64, count) {
            return encode(piece, place);
        }
        copy.resize(count, 0);
        memory.read(&mut copy, begin as u64);
        encode(&copy, place)
    })?;
    Ok(text.finish(room as u64))
}

/// Decodes a text, in which the two symbols of `pair` stand for `+` and `/`.
fn decoded<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
    codec: Base64,
    pair: Option<Pair>,
) -> PyResult<Bound<'py, PyBytes>> {
    let text = Input::text(text)?;
    let memory = text.memory();
    let mut end = [0; 2];
    memory.read(&mut end, memory.len().saturating_sub(2) as u64);
    let filled = end.iter().rev().take_while(|&&byte| byte == b'=').count();
    let room = (memory.len() / 4 * 3).saturating_sub(filled);
    turned(py, memory, room, (PIECE / 3 * 4, PIECE), |text, bytes| {
        let mut changed = Wiped::new(Vec::new());
        let piece = if let Some(pair) = pair {
            let piece = &mut *changed;
            piece.extend_from_slice(text);
            // `+` and `/` are invalid in the text, except if they are in the pair.
            replace(piece, USUAL, USUAL.map(|symbol| if pair.contains(&symbol) { symbol } else { b'?' }));
            replace(piece, pair, USUAL);
            piece
        } else {
            text
        };
        let whole = bytes.len();
        codec.decode_into(piece, bytes).is_ok_and(|bytes| bytes.len() == whole)
    })
}

/// Converts the input in pieces, each from `from` bytes to `to` bytes, and returns all results, which have `room` bytes
/// in total. `turn` returns whether a piece is valid. An invalid piece does not end the loop, so that the time does not
/// depend on the position of an error.
fn turned<'py>(
    py: Python<'py>,
    input: Memory<'_>,
    room: usize,
    (from, to): (usize, usize),
    mut turn: impl FnMut(&[u8], &mut [u8]) -> bool + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    let length = input.len();
    // Bytes that never change are read without a copy.
    let is_fixed = input.bytes_at(0, length).is_some();
    let mut copy = Wiped::new(vec![0; if is_fixed { 0 } else { length.min(from) }]);
    let mut turn_piece = |begin: usize, result: &mut [u8]| {
        let count = from.min(length - begin);
        if let Some(piece) = input.bytes_at(begin as u64, count) {
            return turn(piece, result);
        }
        input.read(&mut copy[..count], begin as u64);
        turn(&copy[..count], result)
    };
    if length <= BRIEF {
        return PyBytes::new_with(py, room, |result| {
            if turn_piece(0, result) { Ok(()) } else { Err(wrong(py, Error::Invalid)) }
        });
    }
    let mut output = NewBytes::new(py, room as u64)?;
    let place = output.memory();
    let mut result = Wiped::new(vec![0; room.min(to)]);
    let mut valid = true;
    in_pieces(py, length, (0..length).step_by(from), |begin| {
        let at = begin / from * to;
        // The text may be too short to fill the last piece of the result. Such a text is not valid.
        let result = &mut result[..to.min(room.saturating_sub(at))];
        valid &= turn_piece(begin, result);
        valid &= place.write(result, at as u64).is_some();
        Ok(())
    })?;
    if valid {
        return Ok(output.finish(room as u64));
    }
    output.with(0, |_| Err(wrong(py, Error::Invalid)))
}

/// Calls `each` with every item of `pieces`. `length` is the length of the data. For long data, the work runs without
/// the interpreter's lock, and signals are checked during the work.
fn in_pieces<I: Iterator + Send>(
    py: Python<'_>,
    length: usize,
    mut pieces: I,
    mut each: impl FnMut(I::Item) -> Result<(), Error> + Send,
) -> PyResult<()> {
    let result = if length <= BRIEF { pieces.try_for_each(&mut each) } else { work::in_turns(py, pieces, each)? };
    result.map_err(|error| wrong(py, error))
}

/// Replaces two symbols by two other symbols. May leak: the length of the text.
fn replace(text: &mut [u8], from: Pair, to: Pair) {
    for byte in text {
        let [first, second] = from.map(|symbol| byte.ct_eq(&symbol));
        *byte = first.select(to[0], second.select(to[1], *byte));
    }
}

fn pair(altchars: &Bound<'_, PyAny>) -> PyResult<Pair> {
    let symbols = buffer::text(altchars)?;
    <Pair>::try_from(&*symbols)
        .map_err(|_| PyValueError::new_err(format!("altchars has two characters, and not {}", symbols.len())))
}

/// Returns Python's exception `binascii.Error`.
fn wrong(py: Python<'_>, error: Error) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match CLASS.import(py, "binascii", "Error") {
        Ok(class) => PyErr::from_type(class.clone(), error.to_string()),
        Err(error) => error,
    }
}
