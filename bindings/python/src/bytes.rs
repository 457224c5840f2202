//! Sealing and opening of bytes.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffer;
use crate::errors::raised;
use crate::to::{Options, identities, sealing};
use crate::work;
use deadpan_bind::Fault;
use deadpan_seal::{Header, random};

/// Shorter results are copied.
const SMALL: usize = 256 << 10;

/// Seals bytes.
#[pyfunction]
#[pyo3(signature = (data, to, *, age = false, hide_length = false, mixed = false))]
pub(crate) fn seal<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    to: &Bound<'py, PyAny>,
    age: bool,
    hide_length: bool,
    mixed: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let sealing = sealing(to, Options { age, hide_length, mixed })?;
    let data = buffer::input(data)?;
    let plain = data.bytes();
    if plain.len() < SMALL {
        // To ask for the length first would take longer than to copy the result.
        let sealed = py.detach(|| sealing.bytes(plain)).map_err(raised)?;
        return Ok(PyBytes::new(py, &sealed));
    }
    let room = sealing.sealed_length(plain.len() as u64).map_err(raised)?;
    PyBytes::new_with(py, room as usize, |sealed| {
        work::run(py, Some(plain.len() as u64), None, |work| {
            sealing.bytes_into(plain, sealed, work).map(drop).map_err(Fault::from)
        })
    })
}

/// Opens bytes.
#[pyfunction]
pub(crate) fn open<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    keys: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let identities = identities(keys)?;
    let data = buffer::input(data)?;
    let mut payload = data.bytes();
    let (opened, room) = py
        .detach(|| {
            let opened = Header::read(&mut payload)?.open(&identities)?;
            let room = opened.room(payload)?;
            Ok((opened, room))
        })
        .map_err(|error: deadpan_seal::Error| raised(error))?;
    let mut length = room;
    let plain = PyBytes::new_with(py, room as usize, |plain| {
        length = work::run(py, Some(room), None, |work| {
            opened.bytes_into(payload, plain, work).map(|summary| summary.plain).map_err(Fault::from)
        })?;
        Ok(())
    })?;
    // A hidden length shows only now.
    match length == room {
        true => Ok(plain),
        false => Ok(PyBytes::new(py, &plain.as_bytes()[..length as usize])),
    }
}

/// Returns how long the result of `seal` is for data of this length.
#[pyfunction]
#[pyo3(signature = (length, to, *, age = false, hide_length = false, mixed = false))]
pub(crate) fn sealed_length(
    length: u64,
    to: &Bound<'_, PyAny>,
    age: bool,
    hide_length: bool,
    mixed: bool,
) -> PyResult<u64> {
    sealing(to, Options { age, hide_length, mixed })?.sealed_length(length).map_err(raised)
}

/// Seals bytes into a buffer, and returns how many bytes it has now.
#[pyfunction]
#[pyo3(signature = (data, to, out, *, age = false, hide_length = false, mixed = false))]
pub(crate) fn seal_into<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    to: &Bound<'py, PyAny>,
    out: &Bound<'py, PyAny>,
    age: bool,
    hide_length: bool,
    mixed: bool,
) -> PyResult<usize> {
    let out = buffer::output(out)?;
    let sealed = seal(py, data, to, age, hide_length, mixed)?;
    put(&sealed, &out)
}

/// Opens bytes into a buffer, and returns how many bytes it has now.
#[pyfunction]
pub(crate) fn open_into<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    keys: &Bound<'py, PyAny>,
    out: &Bound<'py, PyAny>,
) -> PyResult<usize> {
    let out = buffer::output(out)?;
    let plain = open(py, data, keys)?;
    put(&plain, &out)
}

fn put(bytes: &Bound<'_, PyBytes>, out: &crate::imp::Pinned) -> PyResult<usize> {
    let bytes = bytes.as_bytes();
    if out.len() < bytes.len() {
        return Err(PyValueError::new_err(format!("the buffer is too small: it needs {} bytes", bytes.len())));
    }
    out.put(bytes);
    Ok(bytes.len())
}

/// Returns random bytes of the system.
#[pyfunction]
pub(crate) fn random_bytes(py: Python<'_>, length: usize) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, length, |bytes| py.detach(|| random::fill(bytes)).map_err(raised))
}
