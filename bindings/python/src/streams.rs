//! The native part of the package's file objects.

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
use crate::source::raised_by_object;
use crate::to::{Options, sealing};
use crate::work::{self, detached};
use deadpan_bind::Fault;
use deadpan_ct::Wiped;
use deadpan_seal::{Cursor, Sealer, WriteAt};

trait ReadSeek: Read + Seek + Send {}

impl<R: Read + Seek + Send> ReadSeek for R {}

/// Reads sealed data, or one file of a sealed folder, at any place.
#[pyclass(frozen, module = "deadpan._native")]
pub(crate) struct NativeReader {
    reader: Mutex<Box<dyn ReadSeek>>,
    path: Option<PathBuf>,
    #[pyo3(get)]
    length: u64,
}

impl NativeReader {
    /// `path` is the path of the sealed file, for messages.
    pub(crate) fn of(reader: impl Read + Seek + Send + 'static, length: u64, path: Option<PathBuf>) -> Self {
        Self { length, reader: Mutex::new(Box::new(reader)), path }
    }
}

#[pymethods]
impl NativeReader {
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
