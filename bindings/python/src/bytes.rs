//! Sealing and opening of bytes.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffer::{Fixed, Input};
use crate::errors::raised;
use crate::imp::{Memory, NewBytes, Pinned};
use crate::to::{Limit, Options, identities, sealing};
use crate::work::{self, WorkOptions, detached};
use deadpan_bind::Fault;
use deadpan_ct::Wiped;
use deadpan_seal::{Cursor, Error, Header, Identity, Opened, Sealing, random};

/// Seals bytes, or any buffer, and returns the result.
///
/// `to` is one recipient or several recipients: public keys, passphrases, sessions, texts of public keys. `age` chooses
/// age's format. `hide_length` pads the data, so that the length of the result reveals little. `compress` is a level
/// from 1 (fast) to 19 (small); 3 is a good choice. The length of compressed data tells something about the data.
/// `allow_mixed` allows a classical key together with other keys; the protection is then only classical. `progress` is
/// called with the number of bytes that are processed so far; an exception stops the work. `threads` is the number of
/// threads, and 0 stands for one thread on each core.
#[pyfunction]
#[pyo3(signature = (data, to, *, age = false, hide_length = false, allow_mixed = false, compress = None,
    progress = None, threads = 0))]
#[expect(clippy::too_many_arguments, reason = "they are the arguments in Python")]
pub(crate) fn seal<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    to: &Bound<'py, PyAny>,
    age: bool,
    hide_length: bool,
    allow_mixed: bool,
    compress: Option<u8>,
    progress: Option<&Bound<'py, PyAny>>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let how = WorkOptions { progress, threads };
    let sealing = sealing(to, Options { age, hide_length, allow_mixed, compress })?;
    let data = Input::of(data)?;
    if let Some(plain) = short(&data, how) {
        let sealed = detached(py, || sealing.seal(&plain)).map_err(raised)?;
        return Ok(PyBytes::new(py, &sealed));
    }
    let room = sealing.sealed_length(data.memory().len() as u64).map_err(raised)?;
    let mut sealed = NewBytes::new(py, room)?;
    let length = seal_long(py, &sealing, how, data.memory(), sealed.memory())?;
    Ok(sealed.finish(length))
}

/// Opens sealed bytes. Returns all of the data, or raises an exception. `keys` is one key or several keys: private
/// keys, passphrases, sessions. `max_cost` is a `MaxCost`, which limits the memory and work for trying a passphrase or
/// session. If the data require more than this limit, the function raises `CostlyError` before any work is done.
/// `progress` and `threads` work as in `seal`.
#[pyfunction]
#[pyo3(signature = (data, keys, *, max_cost = None, progress = None, threads = 0))]
pub(crate) fn open<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    keys: &Bound<'py, PyAny>,
    max_cost: Option<Limit>,
    progress: Option<&Bound<'py, PyAny>>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let how = WorkOptions { progress, threads };
    let identities = identities(keys, max_cost)?;
    let data = Input::of(data)?;
    if let Some(sealed) = short(&data, how) {
        let plain = detached(py, || open_short(&sealed, &identities)).map_err(raised)?;
        return Ok(PyBytes::new(py, &plain));
    }
    let (opened, room) = begin(py, data.memory(), &identities)?;
    let mut plain = NewBytes::new(py, room)?;
    let length = open_long(py, &opened, how, data.memory(), room, plain.memory())?;
    Ok(plain.finish(length))
}

/// Returns the length of the result of `seal` for data of the given length. If the data are compressed, returns the
/// largest possible length.
#[pyfunction]
#[pyo3(signature = (length, to, *, age = false, hide_length = false, allow_mixed = false, compress = None))]
pub(crate) fn sealed_length(
    length: u64,
    to: &Bound<'_, PyAny>,
    age: bool,
    hide_length: bool,
    allow_mixed: bool,
    compress: Option<u8>,
) -> PyResult<u64> {
    sealing(to, Options { age, hide_length, allow_mixed, compress })?.sealed_length(length).map_err(raised)
}

/// Seals bytes into the buffer `out`, and returns how many bytes were written. See `sealed_length` and `seal`.
#[pyfunction]
#[pyo3(signature = (data, to, out, *, age = false, hide_length = false, allow_mixed = false, compress = None,
    progress = None, threads = 0))]
#[expect(clippy::too_many_arguments, reason = "they are the arguments in Python")]
pub(crate) fn seal_into<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    to: &Bound<'py, PyAny>,
    out: &Bound<'py, PyAny>,
    age: bool,
    hide_length: bool,
    allow_mixed: bool,
    compress: Option<u8>,
    progress: Option<&Bound<'py, PyAny>>,
    threads: usize,
) -> PyResult<u64> {
    let how = WorkOptions { progress, threads };
    let sealing = sealing(to, Options { age, hide_length, allow_mixed, compress })?;
    let (data, out) = apart(data, out)?;
    if let Some(plain) = short(&data, how) {
        return put(&detached(py, || sealing.seal(&plain)).map_err(raised)?, out.memory());
    }
    let room = sealing.sealed_length(data.memory().len() as u64).map_err(raised)?;
    if room > out.memory().len() as u64 {
        return Err(too_small(room));
    }
    seal_long(py, &sealing, how, data.memory(), out.memory())
}

/// Opens bytes into the buffer `out`, and returns how many bytes were written. A buffer as long as the sealed data is
/// always long enough, unless the data are compressed. The options work as in `open`.
#[pyfunction]
#[pyo3(signature = (data, keys, out, *, max_cost = None, progress = None, threads = 0))]
pub(crate) fn open_into<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    keys: &Bound<'py, PyAny>,
    out: &Bound<'py, PyAny>,
    max_cost: Option<Limit>,
    progress: Option<&Bound<'py, PyAny>>,
    threads: usize,
) -> PyResult<u64> {
    let how = WorkOptions { progress, threads };
    let identities = identities(keys, max_cost)?;
    let (data, out) = apart(data, out)?;
    if let Some(sealed) = short(&data, how) {
        let plain = detached(py, || open_short(&sealed, &identities)).map_err(raised)?;
        return put(&plain, out.memory());
    }
    let (opened, room) = begin(py, data.memory(), &identities)?;
    if room <= out.memory().len() as u64 {
        return open_long(py, &opened, how, data.memory(), room, out.memory());
    }
    if !opened.hides_length() {
        return Err(too_small(room));
    }
    // The buffer is too small for the padded plaintext, but the plaintext without padding may fit.
    let mut plain = NewBytes::new(py, room)?;
    let length = open_long(py, &opened, how, data.memory(), room, plain.memory())?;
    plain.with(length, |data| put(data, out.memory()))
}

/// Returns the memory of the input and the memory of the output. Refuses an input and an output that overlap.
fn apart<'a>(data: &'a Bound<'_, PyAny>, out: &Bound<'_, PyAny>) -> PyResult<(Input<'a>, Pinned)> {
    let (data, out) = (Input::of(data)?, Pinned::writable(out)?);
    if data.memory().overlaps(out.memory()) {
        Err(PyValueError::new_err("data and out share memory"))
    } else {
        Ok((data, out))
    }
}

fn short<'a>(data: &'a Input<'_>, how: WorkOptions<'_, '_>) -> Option<Fixed<'a>> {
    if how.progress.is_none() { data.short() } else { None }
}

fn seal_long<'py>(
    py: Python<'py>,
    sealing: &Sealing,
    how: WorkOptions<'_, 'py>,
    plain: Memory<'_>,
    sealed: Memory<'_>,
) -> PyResult<u64> {
    let length = plain.len() as u64;
    work::run(py, Some(length), how, |work| {
        sealing.seal_at(&plain, length, &sealed, work).map(|summary| summary.sealed).map_err(Fault::from)
    })
}

fn open_short(mut sealed: &[u8], identities: &[Identity]) -> Result<Wiped<Vec<u8>>, Error> {
    let opened = Header::read(&mut sealed)?.open(identities)?;
    opened.open(sealed).map(Wiped::new)
}

/// Opens the header, and returns the number of bytes that the plaintext and its padding need.
fn begin(py: Python<'_>, sealed: Memory<'_>, identities: &[Identity]) -> PyResult<(Opened, u64)> {
    let length = sealed.len() as u64;
    detached(py, || {
        let opened = Header::read(Cursor::new(&sealed, length))?.open(identities)?;
        let room = opened.room_at(&sealed, length)?;
        Ok((opened, room))
    })
    .map_err(|error: Error| raised(error))
}

/// Opens sealed data into memory that is large enough for the plaintext, and returns the plaintext's length. After an
/// error, the memory contains no plaintext.
fn open_long<'py>(
    py: Python<'py>,
    opened: &Opened,
    how: WorkOptions<'_, 'py>,
    sealed: Memory<'_>,
    room: u64,
    plain: Memory<'_>,
) -> PyResult<u64> {
    let result = work::run(py, Some(room), how, |work| {
        opened.open_at(&sealed, sealed.len() as u64, &plain, work).map_err(Fault::from)
    });
    result.map(|summary| summary.plain).inspect_err(|_| plain.wipe(room as usize))
}

fn put(bytes: &[u8], out: Memory<'_>) -> PyResult<u64> {
    let length = bytes.len() as u64;
    out.write(bytes, 0).map(|()| length).ok_or_else(|| too_small(length))
}

fn too_small(needed: u64) -> PyErr {
    PyValueError::new_err(format!("the buffer is too small: it needs {needed} bytes"))
}

/// Returns random bytes of the system.
#[pyfunction]
pub(crate) fn random_bytes(py: Python<'_>, length: usize) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, length, |bytes| detached(py, || random::fill(bytes)).map_err(raised))
}
