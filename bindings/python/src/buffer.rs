//! Access to the bytes of Python's buffers.

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::imp::{Memory, Pinned};
use deadpan_ct::Wiped;

/// Buffers up to this length are copied as a whole before they are sealed or opened. Longer buffers are copied in
/// pieces.
pub(crate) const SHORT: usize = 256 << 10;

/// Data of a caller.
pub(crate) enum Input<'a> {
    /// A `bytes` object, which cannot change.
    Bytes(&'a [u8]),
    /// Another buffer, which its owner may change during the work.
    Shared(Pinned),
}

/// Bytes that do not change during the work: either the caller's bytes, or a copy of them.
pub(crate) enum Fixed<'a> {
    Own(&'a [u8]),
    Copy(Wiped<Vec<u8>>),
}

impl std::ops::Deref for Fixed<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Copy(copy) => copy,
        }
    }
}

impl<'a> Input<'a> {
    pub(crate) fn of(value: &'a Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.as_bytes()));
        }
        if value.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("a text has to be encoded first: text.encode()"));
        }
        Ok(Self::Shared(Pinned::readable(value)?))
    }

    pub(crate) fn text(value: &'a Bound<'_, PyAny>) -> PyResult<Self> {
        match value.cast::<PyString>() {
            Ok(text) => Ok(Self::Bytes(text.to_str()?.as_bytes())),
            Err(_) => Self::of(value),
        }
    }

    pub(crate) fn memory(&self) -> Memory<'_> {
        match self {
            Self::Bytes(bytes) => Memory::of(bytes),
            Self::Shared(pinned) => pinned.memory(),
        }
    }

    /// Returns all of the data. The data are copied if their owner may change them.
    pub(crate) fn fixed(&self) -> Fixed<'_> {
        match self {
            Self::Bytes(bytes) => Fixed::Own(bytes),
            Self::Shared(pinned) => Fixed::Copy(pinned.memory().copy()),
        }
    }

    /// Returns all of the data if they are short.
    pub(crate) fn short(&self) -> Option<Fixed<'_>> {
        (self.memory().len() <= SHORT).then(|| self.fixed())
    }
}

pub(crate) fn text<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<Fixed<'a>> {
    match Input::text(value)? {
        Input::Bytes(bytes) => Ok(Fixed::Own(bytes)),
        Input::Shared(pinned) => Ok(Fixed::Copy(pinned.memory().copy())),
    }
}

pub(crate) fn unfit(why: &str) -> PyErr {
    PyBufferError::new_err(why.to_owned())
}
