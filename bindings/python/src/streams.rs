//! The native part of the package's file objects.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffer::{Input, SHORT};
use crate::errors::{exception, raised};
use crate::imp::Pinned;
use crate::to::{Limit, Options, identities, sealing};
use crate::work::{self, detached};
use deadpan_bind::{Fault, open_seekable};
use deadpan_ct::Wiped;
use deadpan_seal::{Cursor, Error, Header, Identity, RangeReader, Sealer, WriteAt};

/// The source of sealed data.
enum SealedSource {
    File(File),
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
fn raised_by_object(error: io::Error) -> PyErr {
    match error.downcast::<PyErr>() {
        Ok(own) => own,
        Err(error) => exception(Fault::of_reader(error)),
    }
}

/// Returns the exception for an error of the engine: the file object's own exception, if reading failed.
fn failed(error: Error) -> PyErr {
    match error {
        Error::Read(error) => raised_by_object(error),
        error => raised(error),
    }
}

/// Reads sealed data at any place.
#[pyclass(frozen, module = "deadpan._native")]
pub(crate) struct NativeReader {
    reader: Mutex<RangeReader<SealedSource>>,
    path: Option<PathBuf>,
    #[pyo3(get)]
    length: u64,
}

fn range_reader(mut source: SealedSource, identities: &[Identity]) -> Result<RangeReader<SealedSource>, Error> {
    source.seek(SeekFrom::Start(0)).map_err(Error::Read)?;
    let header = Header::read(&mut source)?.open(identities)?;
    source.seek(SeekFrom::Start(0)).map_err(Error::Read)?;
    header.seek_in(source)
}

#[pymethods]
impl NativeReader {
    #[new]
    #[pyo3(signature = (source, keys, *, max_cost = None))]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        keys: &Bound<'_, PyAny>,
        max_cost: Option<Limit>,
    ) -> PyResult<Self> {
        let identities = identities(keys, max_cost)?;
        let mut path = None;
        let reader = if source.hasattr("read")? && source.hasattr("seek")? {
            let source = SealedSource::Object(source.clone().unbind());
            detached(py, || range_reader(source, &identities)).map_err(failed)?
        } else {
            let place: &PathBuf = path.insert(source.extract()?);
            detached(py, || {
                let (file, _) = open_seekable(place)?;
                range_reader(SealedSource::File(file), &identities).map_err(|error| Fault::from(error).about(place))
            })
            .map_err(exception)?
        };
        Ok(Self { length: reader.length(), reader: Mutex::new(reader), path })
    }

    /// Fills a buffer with the bytes after a position, and returns their number. Only at the end of the data are fewer
    /// bytes returned than fit in the buffer.
    fn read_into(&self, py: Python<'_>, position: u64, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        let out = Pinned::writable(buffer)?;
        let memory = out.memory();
        let left = usize::try_from(self.length.saturating_sub(position)).unwrap_or(usize::MAX);
        let length = memory.len().min(left);
        let mut piece = Wiped::new(vec![0; length.min(SHORT)]);
        let filled = work::in_turns(py, (0..length).step_by(SHORT), |begin| {
            let piece = &mut piece[..SHORT.min(length - begin)];
            let mut reader = self.reader.lock();
            reader.seek(SeekFrom::Start(position + begin as u64))?;
            reader.read_exact(piece)?;
            memory.write_all_at(piece, begin as u64)
        })?;
        filled.map(|()| length).map_err(|error| match &self.path {
            Some(path) => exception(Fault::of_reader(error).about(path)),
            None => raised_by_object(error),
        })
    }
}

/// Sealed bytes that the caller has not taken yet.
#[derive(Clone, Default)]
struct Ready(Arc<Mutex<Vec<u8>>>);

impl Ready {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl Write for Ready {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Seals the bytes that are written, and returns the sealed bytes that are ready.
#[pyclass(frozen, module = "deadpan._native")]
pub(crate) struct NativeWriter {
    sealer: Mutex<Option<Sealer<Ready>>>,
    ready: Ready,
}

#[pymethods]
impl NativeWriter {
    #[new]
    #[pyo3(signature = (to, *, age = false, hide_length = false, allow_mixed = false, compress = None))]
    fn new(
        to: &Bound<'_, PyAny>,
        age: bool,
        hide_length: bool,
        allow_mixed: bool,
        compress: Option<u8>,
    ) -> PyResult<Self> {
        let sealing = sealing(to, Options { age, hide_length, allow_mixed, compress })?;
        let ready = Ready::default();
        let sealer = sealing.write_to(ready.clone()).map_err(raised)?;
        Ok(Self { sealer: Mutex::new(Some(sealer)), ready })
    }

    /// Seals up to `length` bytes of a buffer, beginning at `begin`. Returns the sealed bytes, which the caller must
    /// write immediately.
    fn write<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        begin: u64,
        length: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let data = Input::of(data)?;
        let plain = data.memory();
        let end = begin.saturating_add(length).min(plain.len() as u64);
        let written = detached(py, || {
            let mut sealer = self.sealer.lock();
            let mut plain = Cursor::new(plain, end);
            plain.seek(SeekFrom::Start(begin)).ok()?;
            sealer.as_mut().map(|sealer| io::copy(&mut plain, sealer).map(drop))
        });
        let written = written.ok_or_else(|| PyValueError::new_err("the writer is closed"))?;
        written.map_err(|error| exception(Fault::of_writer(error)))?;
        Ok(PyBytes::new(py, &self.ready.take()))
    }

    /// Seals the end. Returns the last bytes that the caller must write.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let sealer = self.sealer.lock().take();
        let sealer = sealer.ok_or_else(|| PyValueError::new_err("the writer is closed"))?;
        detached(py, || sealer.finish()).map_err(|error| exception(Fault::of_writer(error)))?;
        Ok(PyBytes::new(py, &self.ready.take()))
    }
}
