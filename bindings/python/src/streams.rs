//! What the file objects of the package need.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffer::Input;
use crate::errors::{exception, raised};
use crate::to::{Options, identities, sealing};
use deadpan_bind::Fault;
use deadpan_seal::{Cursor, Error, Header, RangeReader, Sealer};

/// Reads at any place of a sealed file.
#[pyclass(frozen, module = "deadpan._native")]
pub(crate) struct NativeReader {
    reader: Mutex<RangeReader<File>>,
    #[pyo3(get)]
    length: u64,
}

#[pymethods]
impl NativeReader {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, keys: &Bound<'_, PyAny>) -> PyResult<Self> {
        let identities = identities(keys)?;
        py.detach(|| {
            let mut file = File::open(&path).map_err(|error| Fault::read(&path, &error))?;
            let open = || {
                let header = Header::read(&file)?.open(&identities)?;
                file.seek(SeekFrom::Start(0)).map_err(Error::Read)?;
                header.seekable(file)
            };
            let reader = open().map_err(|error: Error| Fault::from(error).about(&path))?;
            let length = reader.length();
            Ok(Self { reader: Mutex::new(reader), length })
        })
        .map_err(exception)
    }

    /// Returns up to so many bytes from a position; fewer only at the end.
    fn read_at<'py>(&self, py: Python<'py>, position: u64, length: usize) -> PyResult<Bound<'py, PyBytes>> {
        let left = usize::try_from(self.length.saturating_sub(position)).unwrap_or(usize::MAX);
        PyBytes::new_with(py, length.min(left), |bytes| {
            let filled = py.detach(|| {
                let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
                reader.seek(SeekFrom::Start(position))?;
                reader.read_exact(bytes)
            });
            filled.map_err(|error| exception(Fault::of_reader(error)))
        })
    }
}

/// Sealed bytes that wait to be taken.
#[derive(Clone, Default)]
struct Ready(Arc<Mutex<Vec<u8>>>);

impl Ready {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Ready {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Seals what is written, and returns the sealed bytes that are ready.
#[pyclass(frozen, module = "deadpan._native")]
pub(crate) struct NativeWriter {
    sealer: Mutex<Option<Sealer<Ready>>>,
    ready: Ready,
}

#[pymethods]
impl NativeWriter {
    #[new]
    #[pyo3(signature = (to, *, age = false, hide_length = false, mixed = false))]
    fn new(to: &Bound<'_, PyAny>, age: bool, hide_length: bool, mixed: bool) -> PyResult<Self> {
        let sealing = sealing(to, Options { age, hide_length, mixed })?;
        let ready = Ready::default();
        let sealer = sealing.writer(ready.clone()).map_err(raised)?;
        Ok(Self { sealer: Mutex::new(Some(sealer)), ready })
    }

    /// Seals bytes. Returns what is to be written now.
    fn write<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let data = Input::of(data)?;
        let plain = data.memory();
        let written = py.detach(|| {
            let mut sealer = self.sealer.lock().unwrap_or_else(PoisonError::into_inner);
            sealer.as_mut().map(|sealer| io::copy(&mut Cursor::new(plain, plain.len() as u64), sealer).map(drop))
        });
        let written = written.ok_or_else(|| PyValueError::new_err("the writer is closed"))?;
        written.map_err(|error| exception(Fault::of_writer(error)))?;
        Ok(PyBytes::new(py, &self.ready.take()))
    }

    /// Seals the end. Returns what is to be written last.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let sealer = self.sealer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let sealer = sealer.ok_or_else(|| PyValueError::new_err("the writer is closed"))?;
        py.detach(|| sealer.finish()).map_err(|error| exception(Fault::of_writer(error)))?;
        Ok(PyBytes::new(py, &self.ready.take()))
    }
}
