//! Buffers of Python as bytes.

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::imp::Pinned;
use deadpan_seal::Secret;

/// Bytes of a caller: `bytes` themselves, or a copy of a buffer that its owner may change meanwhile.
pub(crate) enum Input<'a> {
    Bytes(&'a [u8]),
    Copy(Secret),
}

impl Input<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Copy(copy) => copy,
        }
    }
}

/// Returns the bytes of a value. `bytes` cannot change and are not copied.
pub(crate) fn input<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<Input<'a>> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Input::Bytes(bytes.as_bytes()));
    }
    if value.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("a text has to be encoded first: text.encode()"));
    }
    Ok(Input::Copy(Pinned::readable(value)?.copy()))
}

/// Returns a buffer that can be written.
pub(crate) fn output(value: &Bound<'_, PyAny>) -> PyResult<Pinned> {
    Pinned::writable(value)
}

/// Returns the bytes of a text or of bytes; they are wiped.
pub(crate) fn text(value: &Bound<'_, PyAny>) -> PyResult<Secret> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Secret::copy_of(text.to_cow()?.as_bytes()));
    }
    Ok(Secret::copy_of(input(value)?.bytes()))
}

/// Returns the error for a buffer that cannot be used.
pub(crate) fn unfit(why: &str) -> PyErr {
    PyBufferError::new_err(why.to_owned())
}
