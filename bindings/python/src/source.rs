//! Where sealed data are read from: a file, or a file object of Python.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use pyo3::prelude::*;

use crate::buffer::Input;
use crate::errors::exception;
use deadpan_bind::Fault;
use deadpan_seal::{Cursor, ReadAt};

/// A file that several readers read at the same time, each at its own position.
#[derive(Clone)]
pub(crate) struct SharedFile(pub(crate) Arc<File>);

impl ReadAt for SharedFile {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        ReadAt::read_at(&*self.0, buffer, position)
    }
}

/// The source of sealed data.
pub(crate) enum SealedSource {
    File(Cursor<SharedFile>),
    /// A file object of Python, with `seek` and `read`.
    Object(Py<PyAny>),
}

impl Read for SealedSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Object(object) => attached(|py| {
                let read = object.call_method1(py, "read", (buffer.len(),)).map_err(io::Error::other)?;
                let data = Input::of(read.bind(py)).map_err(io::Error::other)?;
                match data.memory().len() {
                    length if length > buffer.len() => Err(io::Error::other("read returned more than was asked for")),
                    _ => Ok(data.memory().read(buffer, 0)),
                }
            }),
        }
    }
}

impl Seek for SealedSource {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Object(object) => attached(|py| {
                let (offset, whence) = match to {
                    SeekFrom::Start(offset) => (i64::try_from(offset).map_err(io::Error::other)?, 0),
                    SeekFrom::Current(offset) => (offset, 1),
                    SeekFrom::End(offset) => (offset, 2),
                };
                let place = object.call_method1(py, "seek", (offset, whence)).map_err(io::Error::other)?;
                // `mmap.seek` returns `None` before Python 3.13.
                let place =
                    if place.is_none(py) { object.call_method0(py, "tell").map_err(io::Error::other)? } else { place };
                place.extract::<u64>(py).map_err(io::Error::other)
            }),
        }
    }
}

/// Calls a function with the interpreter's lock. While the interpreter shuts down, other threads cannot use it, so this
/// function then returns an error.
fn attached<T>(call: impl FnOnce(Python<'_>) -> io::Result<T>) -> io::Result<T> {
    Python::try_attach(call).unwrap_or_else(|| Err(io::Error::other("the interpreter is ending")))
}

/// Returns the exception that a file object raised, or the exception for an error of the library.
pub(crate) fn raised_by_object(error: io::Error) -> PyErr {
    match error.downcast::<PyErr>() {
        Ok(own) => own,
        Err(error) => exception(Fault::of_reader(error)),
    }
}
